//===- TileTextTest.cpp - Tile IR text, written from C++, for tests -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/TileText.h"

namespace nereid {

static std::string typeOf(const std::string &element, const Shape &shape) {
  if (shape.empty()) {
    return element;
  }
  std::string type = "tensor<";
  for (int64_t size : shape) {
    type += std::to_string(size) + "x";
  }
  return type + element + ">";
}

std::string TextValue::type() const { return typeOf(element, shape); }

TextValue TileText::fresh(const std::string &element, const Shape &shape) {
  return {"%v" + std::to_string(next++), element, shape};
}

TextValue TileText::argument(const std::string &element) {
  arguments.push_back({"%arg" + std::to_string(arguments.size()), element, {}});
  return arguments.back();
}

std::string TileText::str() const {
  std::string text = "func.func @kernel(";
  for (size_t i = 0; i < arguments.size(); ++i) {
    text += (i ? ", " : "") + arguments[i].name + ": " + arguments[i].type();
  }
  return text + ") attributes {tile.kernel} {\n" + body + "  return\n}\n";
}

TextValue TileText::programId(int axis) {
  TextValue r = fresh("i32", {});
  line(r.name + " = tile.program_id " + std::to_string(axis));
  return r;
}

TextValue TileText::constant(const std::string &element,
                             const std::string &value, const Shape &shape) {
  TextValue r = fresh(element, shape);
  line(r.name + " = arith.constant " +
       (shape.empty() ? value : "dense<" + value + ">") + " : " + r.type());
  return r;
}

TextValue TileText::range(int64_t end, int64_t start) {
  TextValue r = fresh("i32", {end - start});
  line(r.name + " = tile.range " + std::to_string(start) + ", " +
       std::to_string(end) + " : " + r.type());
  return r;
}

TextValue TileText::splat(const TextValue &x, const Shape &shape) {
  TextValue r = fresh(x.element, shape);
  line(r.name + " = tile.splat " + x.name + " : " + x.type() + " -> " +
       r.type());
  return r;
}

TextValue TileText::broadcast(const TextValue &x, const Shape &shape) {
  if (x.shape == shape) {
    return x;
  }
  if (x.shape.empty()) {
    return splat(x, shape);
  }
  TextValue r = fresh(x.element, shape);
  line(r.name + " = tile.broadcast " + x.name + " : " + x.type() + " -> " +
       r.type());
  return r;
}

TextValue TileText::expand(const TextValue &x, int axis) {
  Shape shape = x.shape;
  shape.insert(shape.begin() + axis, 1);
  TextValue r = fresh(x.element, shape);
  line(r.name + " = tile.expand_dims " + x.name + " {axis = " +
       std::to_string(axis) + " : i32} : " + x.type() + " -> " + r.type());
  return r;
}

TextValue TileText::reshape(const TextValue &x, const Shape &shape) {
  TextValue r = fresh(x.element, shape);
  line(r.name + " = tile.reshape " + x.name + " : " + x.type() + " -> " +
       r.type());
  return r;
}

TextValue TileText::transpose(const TextValue &x,
                              const std::vector<int> &order) {
  Shape shape;
  std::string list;
  for (int d : order) {
    shape.push_back(x.shape[d]);
    list += (list.empty() ? "" : ", ") + std::to_string(d);
  }
  TextValue r = fresh(x.element, shape);
  line(r.name + " = tile.transpose " + x.name + " {order = array<i32: " + list +
       ">} : " + x.type() + " -> " + r.type());
  return r;
}

static Shape common(const Shape &x, const Shape &y) {
  if (x.size() != y.size()) {
    return x.size() > y.size() ? x : y;
  }
  Shape shape;
  for (size_t d = 0; d < x.size(); ++d) {
    shape.push_back(std::max(x[d], y[d]));
  }
  return shape;
}

TextValue TileText::op(const std::string &name, TextValue x, TextValue y) {
  Shape shape = common(x.shape, y.shape);
  x = broadcast(x, shape);
  y = broadcast(y, shape);
  TextValue r = fresh(x.element, shape);
  line(r.name + " = " + name + " " + x.name + ", " + y.name + " : " + r.type());
  return r;
}

TextValue TileText::unary(const std::string &name, const TextValue &x) {
  TextValue r = fresh(x.element, x.shape);
  line(r.name + " = " + name + " " + x.name + " : " + r.type());
  return r;
}

TextValue TileText::convert(const std::string &name, const TextValue &x,
                            const std::string &element) {
  TextValue r = fresh(element, x.shape);
  bool arrow = name.rfind("tile.", 0) == 0;
  line(r.name + " = " + name + " " + x.name + " : " + x.type() +
       (arrow ? " -> " : " to ") + r.type());
  return r;
}

TextValue TileText::compare(const std::string &predicate, TextValue x,
                            TextValue y) {
  Shape shape = common(x.shape, y.shape);
  x = broadcast(x, shape);
  y = broadcast(y, shape);
  TextValue r = fresh("i1", shape);
  line(r.name + (x.element[0] == 'i' ? " = arith.cmpi " : " = arith.cmpf ") +
       predicate + ", " + x.name + ", " + y.name + " : " + x.type());
  return r;
}

TextValue TileText::select(const TextValue &c, TextValue x, TextValue y) {
  Shape shape = common(c.shape, common(x.shape, y.shape));
  x = broadcast(x, shape);
  y = broadcast(y, shape);
  TextValue condition = broadcast(c, shape);
  TextValue r = fresh(x.element, shape);
  line(r.name + " = arith.select " + condition.name + ", " + x.name + ", " +
       y.name + " : " + (shape.empty() ? "" : condition.type() + ", ") +
       r.type());
  return r;
}

TextValue TileText::addptr(TextValue pointer, TextValue offset) {
  Shape shape = common(pointer.shape, offset.shape);
  pointer = broadcast(pointer, shape);
  offset = broadcast(offset, shape);
  TextValue r = fresh(pointer.element, shape);
  line(r.name + " = tile.addptr " + pointer.name + ", " + offset.name + " : " +
       pointer.type() + ", " + offset.type());
  return r;
}

static std::string pointeeOf(const TextValue &pointer) {
  return pointer.element.substr(10, pointer.element.size() - 11);
}

TextValue TileText::load(const TextValue &pointer, const TextValue &mask,
                         const TextValue &other) {
  TextValue r = fresh(pointeeOf(pointer), pointer.shape);
  std::string text = r.name + " = tile.load " + pointer.name;
  if (!mask.name.empty()) {
    text += ", " + broadcast(mask, pointer.shape).name;
  }
  if (!other.name.empty()) {
    text += ", " + broadcast(other, pointer.shape).name;
  }
  line(text + " : " + pointer.type());
  return r;
}

void TileText::store(const TextValue &pointer, TextValue value,
                     const TextValue &mask) {
  value = broadcast(value, pointer.shape);
  std::string text = "tile.store " + pointer.name + ", " + value.name;
  if (!mask.name.empty()) {
    text += ", " + broadcast(mask, pointer.shape).name;
  }
  line(text + " : " + pointer.type());
}

static Shape without(Shape shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

TextValue TileText::reduce(const TextValue &x, int axis,
                           const std::string &combine) {
  TextValue r = fresh(x.element, without(x.shape, axis));
  line(r.name + " = \"tile.reduce\"(" + x.name + ") <{axis = " +
       std::to_string(axis) + " : i32}> ({ ^bb0(%a: " + x.element +
       ", %b: " + x.element + "): %c = " + combine + " %a, %b : " + x.element +
       " tile.yield %c : " + x.element + " }) : (" + x.type() + ") -> " +
       r.type());
  return r;
}

TextValue TileText::scan(const TextValue &x, int axis,
                         const std::string &combine, bool reverse) {
  TextValue r = fresh(x.element, x.shape);
  line(r.name + " = \"tile.scan\"(" + x.name +
       ") <{axis = " + std::to_string(axis) + " : i32" +
       (reverse ? ", reverse" : "") + "}> ({ ^bb0(%a: " + x.element +
       ", %b: " + x.element + "): %c = " + combine + " %a, %b : " + x.element +
       " tile.yield %c : " + x.element + " }) : (" + x.type() + ") -> " +
       r.type());
  return r;
}

std::vector<TextValue> TileText::argmax(const TextValue &x,
                                        const TextValue &index, int axis) {
  TextValue r = fresh(x.element, without(x.shape, axis));
  TextValue i = fresh(index.element, r.shape);
  const std::string &t = x.element;
  line(r.name + ", " + i.name + " = \"tile.reduce\"(" + x.name + ", " +
       index.name + ") <{axis = " + std::to_string(axis) +
       " : i32}> ({ ^bb0(%a: " + t + ", %i: i32, %b: " + t +
       ", %j: i32):" + " %eq = arith.cmpf oeq, %a, %b : " + t +
       " %lt = arith.cmpi slt, %i, %j : i32 %tie = arith.andi %eq, %lt : i1" +
       " %gt = arith.cmpf ogt, %a, %b : " + t +
       " %left = arith.ori %gt, %tie : i1" +
       " %v = arith.select %left, %a, %b : " + t +
       " %w = arith.select %left, %i, %j : i32 tile.yield %v, %w : " + t +
       ", i32 }) : (" + x.type() + ", " + index.type() + ") -> (" + r.type() +
       ", " + i.type() + ")");
  return {r, i};
}

TextValue TileText::dot(const TextValue &a, const TextValue &b,
                        const TextValue &c) {
  TextValue r = fresh(c.element, c.shape);
  line(r.name + " = tile.dot " + a.name + ", " + b.name + ", " + c.name +
       " : " + a.type() + ", " + b.type() + ", " + c.type());
  return r;
}

std::vector<TextValue> TileText::loop(
    const TextValue &count, const std::vector<TextValue> &inits,
    const std::function<std::vector<TextValue>(TextValue,
                                               std::vector<TextValue>)> &emit) {
  TextValue zero = constant(count.element, "0"),
            one = constant(count.element, "1");
  TextValue index = fresh(count.element, {});
  std::vector<TextValue> arguments, results;
  std::string names, types, list;
  for (const TextValue &init : inits) {
    arguments.push_back(fresh(init.element, init.shape));
    results.push_back(fresh(init.element, init.shape));
    std::string comma = names.empty() ? "" : ", ";
    names += comma + results.back().name;
    types += comma + init.type();
    list += comma + arguments.back().name + " = " + init.name;
  }
  line((names.empty() ? "" : names + " = ") + "scf.for " + index.name + " = " +
       zero.name + " to " + count.name + " step " + one.name +
       (names.empty() ? "" : " iter_args(" + list + ") -> (" + types + ")") +
       " : " + count.element + " {");
  std::vector<TextValue> yielded = emit(index, arguments);
  std::string values;
  for (const TextValue &value : yielded) {
    values += (values.empty() ? "" : ", ") + value.name;
  }
  line((values.empty() ? "scf.yield" : "scf.yield " + values + " : " + types) +
       " }");
  return results;
}

} // namespace nereid
