//===- GrowMemory.cpp - Loads, stores, atomics ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

namespace nereid::fuzz::source {

VariableId Generator::parameter(Argument argument, const char *prefix,
                                std::string annotation) {
  std::optional<Type> type;
  if (argument.kind == Argument::Kind::Integer ||
      argument.kind == Argument::Kind::Float) {
    type = Type{argument.element, {}};
  }
  VariableId id = variable(prefix, type);
  argument.variable = id;
  argument.stream = int64_t(program.arguments.size());
  program.arguments.push_back(std::move(argument));
  kernel.parameters.push_back({id, std::move(annotation), ""});
  return id;
}

VariableId Generator::arrayParameter(DType element, int64_t count,
                                     std::string fill, bool isOutput,
                                     bool isAligned) {
  Argument argument;
  argument.element = element;
  argument.count = count;
  argument.fill = std::move(fill);
  argument.isOutput = isOutput;
  argument.isAligned = isAligned;
  return parameter(std::move(argument), isOutput ? "out" : "p");
}

Expr Generator::knownNumber(int64_t number) {
  int64_t way = inHelper ? 0 : random.below(4);
  if (way < 2) {
    return std::to_string(number);
  }
  Argument argument;
  argument.integer = number;
  argument.element = DType::Int32;
  if (way == 2) {
    argument.kind = Argument::Kind::Integer;
    return parameter(argument, "n");
  }
  argument.kind = Argument::Kind::Static;
  return parameter(argument, "K", "tl.constexpr");
}

/// Element i of a block at sum i[d] * stride[d], all below `extent`. Row-major
/// mostly; otherwise dimensions in any order and with gaps.
Generator::Place Generator::place(const Dims &shape, bool isDisjoint) {
  Place result;
  if (shape.empty()) {
    result.offsets = "0";
    return result;
  }
  llvm::SmallVector<size_t, 4> order;
  for (size_t dim = shape.size(); dim-- > 0;) {
    order.push_back(dim);
  }
  if (random.chance(25)) {
    for (size_t i = order.size(); i-- > 1;) {
      std::swap(order[i], order[size_t(random.below(int64_t(i + 1)))]);
    }
  }
  Dims strides(shape.size());
  int64_t stride = random.chance(10) ? random.between(2, 3) : 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    stride *= shape[dim];
    if (random.chance(12)) {
      stride += random.between(1, 7);
    }
  }
  if (!isDisjoint && random.chance(10)) {
    strides[size_t(random.below(int64_t(strides.size())))] = 0;
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim) {
      result.offsets += " + ";
    }
    result.offsets += alongDim(shape, dim);
    if (strides[dim] != 1) {
      result.offsets += join(" * ", knownNumber(strides[dim]));
    }
  }
  result.extent = stride;
  return result;
}

/// Of every program and iteration its own part of an array.
Expr Generator::serialTimes(int64_t extent) {
  return join("(", serial, ") * ", extent);
}

/// An int1 of this shape; constant for some elements more often than not.
Expr Generator::mask(const Dims &shape) {
  if (shape.empty()) {
    return comparison({}).variable;
  }
  auto known =
      find([&](const Item &i) { return i.type == Type{DType::Int1, shape}; });
  if (known && random.chance(30)) {
    return known->variable;
  }
  size_t dim = size_t(random.below(int64_t(shape.size())));
  Expr index = alongDim(shape, dim);
  int64_t size = shape[dim];
  Expr part;
  switch (random.below(7)) {
  case 6:
    count(Feature::negativeRange);
    part =
        join("(", index, " - ", random.pick<int64_t>({16, 32, 64}), ") // ",
             random.pick<int64_t>({8, 16, 32}), " < ", random.between(-3, 1));
    break;
  case 0:
    count(Feature::maskConstantForSome);
    part = join("(", index, " & 3) != ", random.between(0, 4));
    break;
  case 1:
    count(Feature::maskConstantForSome);
    part = join(index, " >= ", random.between(0, 2)); // of all or all but one
    break;
  case 2:
    count(Feature::maskConstantForSome);
    part = join(index, " < ", random.pick<int64_t>({0, size, size + 3}));
    break;
  default:
    part = join(index, " < ", knownNumber(random.between(0, size)));
  }
  if (shape.size() > 1 && random.chance(40)) {
    size_t other = (dim + 1) % shape.size();
    part = join("(", part, ") & (", alongDim(shape, other), " < ",
                knownNumber(random.between(1, shape[other])), ")");
  }
  Dims own(shape.size(), 1);
  own[dim] = size;
  if (shape.size() == 1 || random.chance(50)) {
    return part;
  }
  return join("(", part, ") & (", alongDim(shape, (dim + 1) % shape.size()),
              " >= 0)");
}

Item Generator::load(const Type &type) {
  count(Feature::load);
  Place where = place(type.shape, /*isDisjoint=*/false);
  bool ofProgram = !type.isScalar() && random.chance(60);
  const char *fill = random.pick({"normal", "whole", "positive", "whole"});
  if (isInteger(type.element)) {
    fill = random.pick({"any", "any", "whole", "positive"});
  }
  int64_t start = random.chance(20) ? random.between(1, 20) : 0;
  int64_t count = where.extent * (ofProgram ? serials : 1) + start;
  VariableId array =
      arrayParameter(type.element, count, fill, false, random.chance(70));
  Expr address = array;
  if (start) {
    address += join(" + ", start);
  }
  if (ofProgram && serials > 1) {
    address += join(" + ", serialTimes(where.extent));
  }
  if (!type.isScalar()) {
    address += join(" + (", where.offsets, ")",
                    random.chance(10) ? ".to(tl.int64)" : "");
  } else if (start == 0 && random.chance(50)) {
    address += " + 0";
  }
  Item item{{}, type, true, false, 6};
  if (isFloat(type.element)) {
    llvm::StringRef kind = fill;
    item.isWhole = kind == "whole";
    item.magnitude = kind == "whole" ? 8 : kind == "positive" ? 2 : 6.1;
  }
  Expr arguments;
  if (!type.isScalar() && random.chance(40)) {
    this->count(Feature::maskedLoad);
    arguments += join(", mask=", mask(type.shape));
    if (random.chance(60)) {
      bool isFraction = isFloat(type.element) && random.chance(40);
      arguments += isFraction ? ", other=0.5"
                   : type.element == DType::Int1
                       ? ", other=False"
                       : join(", other=", random.between(0, 7));
      item.isWhole &= !isFraction;
      item.magnitude = std::max(item.magnitude, 7.0);
    }
  }
  if (random.chance(5)) {
    arguments +=
        random.pick({", cache_modifier=\".cg\"",
                     ", eviction_policy=\"evict_last\"", ", volatile=True"});
  }
  return like(join("tl.load(", address, arguments, ")"), type, item);
}

/// At indices made of data, or of a range that begins below zero.
void Generator::growGatherLoad() {
  count(Feature::gatherLoad);
  if (random.chance(30)) {
    count(Feature::negativeRange);
    int64_t period = random.pick<int64_t>({8, 16, 32});
    Dims shape = {random.pick<int64_t>({64, 128, 32})};
    DType type = anyElement();
    VariableId array =
        arrayParameter(type, 64, isFloat(type) ? "whole" : "any", false);
    define(join("tl.load(", array, " + ", period, " + (", alongDim(shape, 0),
                " - ", random.pick<int64_t>({16, 32, 64, 128}), ") % ", period,
                ")"),
           {type, shape}, true, 8, isFloat(type));
    return;
  }
  Item index = integer();
  if (index.type.isScalar() || bitWidth(index.type.element) < 16) {
    return;
  }
  DType element = anyElement();
  bool isFloating = isFloat(element);
  int64_t size = random.pick<int64_t>({1, 7, 64, 127});
  VariableId array =
      arrayParameter(element, 128, isFloating ? "whole" : "any", false);
  define(join("tl.load(", array, " + (", index.variable, " & ", size, "))"),
         {element, index.type.shape}, true, 8, isFloating);
}

void Generator::store(const Item &item) {
  count(Feature::store);
  Item value = item;
  Dims shape = value.type.shape;
  if (shape.empty() && random.chance(15)) {
    shape = anyShape(); // a scalar goes to every element
  }
  Place where = place(shape, /*isDisjoint=*/true);
  DType element = value.type.element;
  if (random.chance(12) && isArithmeticFloat(element)) {
    // As the array has it: the store converts.
    DType to = random.pick({DType::Float16, DType::BFloat16, DType::Float32});
    if (value.magnitude <= comfortable(to)) {
      element = to;
    }
  }
  VariableId array =
      arrayParameter(element, where.extent * serials,
                     random.chance(70) ? "" : "whole", true, random.chance(70));
  Expr address = array;
  if (serials > 1) {
    address += join(" + ", serialTimes(where.extent));
  }
  if (!shape.empty()) {
    address += join(" + (", where.offsets, ")");
  }
  Expr arguments;
  if (random.chance(30)) {
    count(Feature::maskedStore);
    arguments = join(", mask=", mask(shape));
  }
  effect(join("tl.store(", address, ", ", value.variable, arguments, ")"));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Either each element at an address of its own, where the old value is known,
/// or several at one, where the order is free and only the sum counts.
void Generator::growAtomic() {
  if (inHelper) {
    return;
  }
  count(Feature::atomic);
  DType element = random.pick({DType::Int32, DType::Int32, DType::UInt32,
                               DType::Int64, DType::UInt64, DType::Float32});
  bool isFloating = isFloat(element);
  Type type{element, anyShape()};
  Item value = operand(type);
  if (isFloating) {
    value = tame(value, 64);
  }
  bool isShared = !type.isScalar() && random.chance(40);
  if (!isShared && !isFloating && random.chance(15)) {
    count(Feature::atomicCas);
    Place where = place(type.shape, true);
    VariableId array =
        arrayParameter(element, where.extent * serials, "whole", true);
    Item expected = castTo(operand(type), element);
    define(join("tl.atomic_cas(", array, " + ", serialTimes(where.extent),
                " + (", where.offsets, "), ", expected.variable, ", ",
                value.variable, ")"),
           type, true, 8, false, /*isPure=*/false);
    return;
  }
  const char *name =
      isFloating ? "tl.atomic_add("
      : isShared
          ? random.pick({"tl.atomic_add(", "tl.atomic_max(", "tl.atomic_min(",
                         "tl.atomic_and(", "tl.atomic_or(", "tl.atomic_xor("})
          : random.pick({"tl.atomic_add(", "tl.atomic_max(", "tl.atomic_xchg(",
                         "tl.atomic_xor("});
  Expr masked = random.chance(30) ? join(", mask=", mask(type.shape)) : Expr();
  bool isMasked = !masked.pieces.empty();
  const char *order =
      random.pick({"", "", ", sem=\"relaxed\"", ", sem=\"acq_rel\""});
  if (isShared) {
    VariableId array = arrayParameter(element, 8, "whole", true);
    Expr index;
    for (size_t dim = 0; dim < type.shape.size(); ++dim) {
      index += join(dim ? " + " : "", alongDim(type.shape, dim));
    }
    effect(join(name, array, " + ((", index, ") & ",
                random.pick<int64_t>({0, 1, 3, 7}), "), ", value.variable,
                masked, order, ")"));
    return;
  }
  Place where = place(type.shape, true);
  VariableId array =
      arrayParameter(element, where.extent * serials, "whole", true);
  Expr expr = join(name, array, " + ", serialTimes(where.extent), " + (",
                   where.offsets, "), ", value.variable, masked, order, ")");
  // What a masked one returns is open where the mask is off.
  if (isMasked || random.chance(50)) {
    effect(expr);
  } else {
    define(expr, type, true, 8, isFloating, /*isPure=*/false);
  }
}

//===----------------------------------------------------------------------===//
// Block pointers and descriptors
//===----------------------------------------------------------------------===//

/// A window that leaves its array on two sides, moved in a loop or not.
void Generator::growBlockPointer() {
  if (inHelper) {
    return;
  }
  count(Feature::blockPointer);
  DType element = random.chance(60) ? floatType() : intType();
  bool isFloating = isFloat(element);
  int64_t rows = int64_t{1} << random.between(2, 4),
          columns = int64_t{1} << random.between(3, 5);
  int64_t height = random.between(1, 3 * rows), width = random.between(1, 70);
  bool isTurned = random.chance(25);
  std::string strides = isTurned ? "(1, " + std::to_string(height) + ")"
                                 : "(" + std::to_string(width) + ", 1)";
  VariableId array =
      arrayParameter(element, height * width, isFloating ? "whole" : "any");
  VariableId pointer = variable("block", std::nullopt, /*isMutable=*/true);
  assign(pointer, join("tl.make_block_ptr(base=", array, ", shape=(",
                       knownNumber(height), ", ", knownNumber(width),
                       "), strides=", strides, ", offsets=(",
                       random.pick<int64_t>({0, 0, 1, rows}), ", ",
                       random.pick<int64_t>({0, 0, 3, columns}),
                       "), block_shape=(", rows, ", ", columns, "), order=(",
                       isTurned ? "0, 1" : "1, 0", "))"));
  Type type{element, {rows, columns}};
  Expr load = join("tl.load(", pointer,
                   ", boundary_check=(0, 1), padding_option=\"zero\")");
  define(load, type, true, 8, isFloating, /*isPure=*/false);
  for (int64_t i = random.below(3); i > 0; --i) {
    count(Feature::blockPointerAdvance);
    assign(pointer, join("tl.advance(", pointer, ", (", random.below(rows),
                         ", ", random.below(columns), "))"));
    define(load, type, true, 8, isFloating, /*isPure=*/false);
  }
  if (random.chance(40)) {
    VariableId out =
        arrayParameter(element, height * width * serials, "whole", true);
    Item value = operand(type);
    effect(join("tl.store(tl.make_block_ptr(", out, " + ",
                serialTimes(height * width), ", (", height, ", ", width, "), (",
                width, ", 1), (", random.below(rows), ", 0), (", rows, ", ",
                columns, "), (1, 0)), ", value.variable,
                ", boundary_check=(0, 1))"));
  }
}

/// The language has descriptors move 16 bytes at a time along the last
/// dimension: blocks begin at such a place, and a store whose tensor ends
/// within 16 bytes may write the rest of them.
void Generator::growDescriptor() {
  if (inHelper) {
    return;
  }
  count(Feature::descriptor);
  DType element = random.pick({DType::Float32, DType::Float16, DType::BFloat16,
                               DType::Int32, DType::UInt8, DType::Int16});
  bool isFloating = isFloat(element);
  int64_t bytes = int64_t(byteSize(element));
  int64_t rows = int64_t{1} << random.between(2, 4),
          columns = (16 / bytes) << random.between(0, 2);
  int64_t height = random.between(1, 3 * rows), width = random.between(1, 80);
  int64_t pitch = (width * bytes + 15) / 16 * 16 / bytes;
  VariableId array =
      arrayParameter(element, height * pitch, isFloating ? "whole" : "any");
  VariableId descriptor = variable("desc", std::nullopt);
  auto make = [&](VariableId base, int64_t used) {
    return join("tl.make_tensor_descriptor(", base, ", shape=[",
                knownNumber(height), ", ", knownNumber(used), "], strides=[",
                knownNumber(pitch), ", 1], block_shape=[", rows, ", ", columns,
                "])");
  };
  assign(descriptor, make(array, width));
  Type type{element, {rows, columns}};
  for (int64_t i = random.between(1, 2); i > 0; --i) {
    define(join(descriptor, ".load([", random.pick<int64_t>({0, 0, 1, rows}),
                ", ", random.pick<int64_t>({0, 0, 16 / bytes, columns}), "])"),
           type, true, 8, isFloating, /*isPure=*/false);
  }
  if (serials == 1 && random.chance(50)) {
    VariableId out = arrayParameter(element, height * pitch, "whole", true);
    VariableId other = variable("desc", std::nullopt);
    assign(other, make(out, pitch));
    effect(join(other, ".store([", random.below(rows), ", 0], ",
                operand(type).variable, ")"));
  }
}

} // namespace nereid::fuzz::source
