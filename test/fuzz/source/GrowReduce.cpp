//===- GrowReduce.cpp - Reductions, scans, sorting ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

#include <cmath>

namespace nereid::fuzz::source {

static bool canReduce(const Item &item) {
  return !item.type.isScalar() && !isFp8(item.type.element) &&
         item.type.element != DType::Int1;
}

/// The axis, as written: from the front or the back.
static std::string axisText(Random &random, size_t axis, size_t rank) {
  return std::to_string(random.chance(20) ? int64_t(axis) - int64_t(rank)
                                          : int64_t(axis));
}

void Generator::growReduce() {
  auto x = find(canReduce);
  if (!x) {
    return;
  }
  if (random.chance(25)) {
    return growReduceIndices();
  }
  if (random.chance(30)) {
    return growCombine(/*isScan=*/false);
  }
  count(Feature::reduce);
  size_t rank = x->type.shape.size();
  size_t axis = size_t(random.below(int64_t(rank)));
  bool isFloating = isFloat(x->type.element);
  const char *name = isFloating ? random.pick({"sum", "max", "min"})
                                : random.pick({"sum", "max", "min", "xor_sum"});
  bool isSum = name[0] == 's';
  double terms = double(x->type.shape[axis]);
  bool isWhole = x->isWhole;
  Item source = *x;
  if (isFloating && isSum) {
    source = tame(source, comfortable(source.type.element) / terms);
    isWhole = source.isWhole && source.magnitude * terms <=
                                    std::ldexp(1, precision(x->type.element));
  }
  DType element = x->type.element;
  element = isSum            ? widenedSum(element)
            : name[0] == 'x' ? element
                             : widenedExtreme(element);
  Dims shape = x->type.shape;
  bool wholeBlock = rank == 1 && random.chance(30);
  bool keep = !wholeBlock && random.chance(20);
  if (keep) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + std::ptrdiff_t(axis));
  }
  bool isMethod = name[0] != 'x' && random.chance(25);
  Expr expr = isMethod ? join(source.variable, ".", name, "(")
                       : join("tl.", name, "(", source.variable);
  std::string arguments = wholeBlock && name[0] != 'x'
                              ? ""
                              : std::string(isMethod ? "" : ", ") +
                                    "axis=" + axisText(random, axis, rank);
  if (keep) {
    arguments += ", keep_dims=True";
  }
  define(join(expr, arguments, ")"), {element, shape},
         isSum && isFloating ? isWhole && source.isExact : source.isExact,
         isSum ? source.magnitude * terms : source.magnitude, isWhole);
}

void Generator::growReduceIndices() {
  auto x = find([&](const Item &i) { return canReduce(i) && i.isExact; });
  if (!x) {
    return;
  }
  count(Feature::reduceIndices);
  size_t rank = x->type.shape.size();
  size_t axis = size_t(random.below(int64_t(rank)));
  Dims shape = x->type.shape;
  shape.erase(shape.begin() + std::ptrdiff_t(axis));
  std::string where = axisText(random, axis, rank);
  // Which of several is open when ties may go either way: leave them left.
  if (random.chance(40)) {
    define(join(random.pick({"tl.argmax(", "tl.argmin("}), x->variable,
                ", axis=", where, ")"),
           {DType::Int32, shape});
    return;
  }
  Type value{x->type.element, shape}, index{DType::Int32, shape};
  Stmt stmt{Stmt::Kind::Assign};
  stmt.targets = {variable("v", value), variable("v", index)};
  stmt.head = join(random.pick({"tl.max(", "tl.min("}), x->variable,
                   ", axis=", where, ", return_indices=True)");
  std::vector<VariableId> targets = stmt.targets;
  emit(std::move(stmt));
  Item first = *x, second;
  first.variable = targets[0];
  first.type = value;
  second.variable = targets[1];
  second.type = index;
  pool.push_back(first);
  pool.push_back(second);
}

namespace {
struct Combine {
  const char *name, *body;
  bool ofInts;
  int operands;
};
} // namespace

/// Associative, the scans too.
static const Combine combineRows[] = {
    {"add", "(a, b):\n    return a + b", true, 1},
    {"either", "(a, b):\n    return a | b", true, 1},
    {"larger", "(a, b):\n    return tl.where(a > b, a, b)", true, 1},
    {"times", "(a, b):\n    return a * b", true, 1},
    {"least",
     "(a, b):\n    if a < b:\n        r = a\n    else:\n        r = "
     "b\n    return r",
     true, 1},
    {"last", "(a, b):\n    return tl.where(b != 0, b, a)", true, 1},
    {"pairs", "(a, i, b, j):\n    return a + b, tl.maximum(i, j)", true, 2},
    {"first",
     "(a, i, b, j):\n    left = (a > b) | ((a == b) & (i < j))\n"
     "    return tl.where(left, a, b), tl.where(left, i, j)",
     true, 2},
    {"line", "(m, c, n, d):\n    return m * n, c * n + d", true, 2}};

const std::string &Generator::combineFunction(size_t which) {
  std::string name = std::string("combine_") + combineRows[which].name;
  for (const std::string &known : combines) {
    if (known == name) {
      return known;
    }
  }
  combines.push_back(name);
  Function function;
  function.name = name;
  function.verbatim = combineRows[which].body;
  program.functions.push_back(function);
  return combines.back();
}

void Generator::growCombine(bool isScan) {
  // By integers: order does not matter then.
  auto x = find([&](const Item &i) {
    return canReduce(i) && isInteger(i.type.element) &&
           bitWidth(i.type.element) >= 32;
  });
  if (!x) {
    x = fresh({DType::Int32, {32}});
  }
  count(isScan ? Feature::scanCombine : Feature::reduceCombine);
  size_t which = size_t(random.below(std::size(combineRows)));
  const Combine &row = combineRows[which];
  // Not commutative: a reduction may combine in any order.
  bool needsOrder =
      row.name == std::string("last") || row.name == std::string("line");
  if (needsOrder && !isScan) {
    which = 0;
  }
  const Combine &chosen = combineRows[which];
  std::string name = combineFunction(which);
  size_t rank = x->type.shape.size();
  size_t axis = size_t(random.below(int64_t(rank)));
  Dims shape = x->type.shape;
  if (!isScan) {
    shape.erase(shape.begin() + std::ptrdiff_t(axis));
  }
  const char *function = isScan ? "tl.associative_scan(" : "tl.reduce(";
  std::string last = std::to_string(axis) + ", " + name;
  if (isScan && random.chance(30)) {
    last += ", reverse=True";
  }
  last += ")";
  if (chosen.operands == 1) {
    define(join(function, x->variable, ", ", last), x->type.with(shape));
    return;
  }
  Item y = operand(x->type);
  if (y.type != x->type || y.variable == x->variable) {
    y = fresh(x->type);
  }
  if (chosen.name == std::string("first")) {
    // Ties fall by the second: the indices, all different.
    y = define(
        join(alongDim(x->type.shape, axis), " + (", x->variable, " & 0)"),
        x->type.with(promote(DType::Int32, x->type.element)));
  }
  Stmt stmt{Stmt::Kind::Assign};
  Type first = x->type.with(shape), second = y.type.with(shape);
  stmt.targets = {variable("v", first), variable("v", second)};
  stmt.head = join(function, "(", x->variable, ", ", y.variable, "), ", last);
  std::vector<VariableId> targets = stmt.targets;
  emit(std::move(stmt));
  Item item = *x;
  item.variable = targets[0];
  item.type = first;
  pool.push_back(item);
  item.variable = targets[1];
  item.type = second;
  pool.push_back(item);
}

void Generator::growScan() {
  auto x = find(canReduce);
  if (!x) {
    return;
  }
  if (random.chance(35)) {
    return growCombine(/*isScan=*/true);
  }
  count(Feature::scan);
  size_t rank = x->type.shape.size();
  size_t axis = size_t(random.below(int64_t(rank)));
  Item source = *x;
  bool isFloating = isFloat(source.type.element);
  bool isProduct = !isFloating && random.chance(30);
  if (isProduct && bitWidth(source.type.element) < 32) {
    source = castTo(source, DType::Int32);
  }
  double terms = double(source.type.shape[axis]);
  DType element = source.type.element;
  bool isWhole = false;
  if (isFloating) {
    source = tame(source, comfortable(element) / terms);
    isWhole = source.isWhole &&
              source.magnitude * terms <= std::ldexp(1, precision(element));
  }
  element = isProduct ? element : widenedSum(element);
  define(join(isProduct ? "tl.cumprod(" : "tl.cumsum(", source.variable,
              ", axis=", axisText(random, axis, rank),
              random.chance(25) ? ", reverse=True)" : ")"),
         source.type.with(element), isWhole && source.isExact,
         source.magnitude * terms, isWhole);
}

void Generator::growOrder() {
  auto x = find([&](const Item &i) {
    return canReduce(i) && i.isExact && i.type.shape.back() > 1 &&
           i.type.count() <= 256;
  });
  if (!x || options.anySizes) {
    return;
  }
  count(Feature::flipSort);
  if (random.chance(50)) {
    like(join("tl.flip(", x->variable, ", ", int64_t(x->type.shape.size()) - 1,
              ")"),
         x->type, *x);
    return;
  }
  like(join("tl.sort(", x->variable,
            random.chance(40) ? ", descending=True)" : ")"),
       x->type, *x);
}

void Generator::growHistogram() {
  auto x = find([&](const Item &i) {
    return canReduce(i) && i.type.shape.size() == 1 &&
           i.type.element == DType::Int32;
  });
  if (!x) {
    x = fresh({DType::Int32, {64}});
  }
  count(Feature::histogram);
  int64_t bins = int64_t{4} << random.below(4);
  define(join("tl.histogram(", x->variable, " & ", bins - 1, ", ", bins, ")"),
         {DType::Int32, {bins}});
}

} // namespace nereid::fuzz::source
