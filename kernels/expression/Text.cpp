//===- Text.cpp - Operations as lines of a kernel ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Text.h"

#include "nereid/Runtime/Error.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <unordered_map>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

static std::string numbered(const char *name, size_t number) {
  return name + std::to_string(number);
}

static std::string typeName(DType dtype) {
  return "tl." + std::string(languageName(dtype));
}

/// Shortest that reads back as the same number of `type`.
static std::string literal(double value, DType type) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, value);
    double read = std::atof(text);
    if (read == value || (type == f32 && static_cast<float>(read) ==
                                             static_cast<float>(value))) {
      break;
    }
  }
  std::string result = text;
  if (result.find_first_of(".en") == std::string::npos) {
    result += ".0";
  }
  return result;
}

namespace {

/// A value in the kernel.
struct Value {
  std::string name;
  DType type = f32;
  bool isNumber = false;  ///< no tensor: a scalar
  bool isLiteral = false; ///< no variable either
  bool isName = true;     ///< needs no parentheses
};

class Writer {
public:
  Writer(KernelText &kernel, const Recorded &graph)
      : kernel(kernel), graph(graph), loops(graph.loops), isForm(graph.isForm) {
  }
  void write();

private:
  void writeIndices();
  void loadTensors();
  std::string offset(size_t t, bool &rows, bool &columns);
  std::string offsetOfResult();
  std::string argument(NumberSource::Of value, const Node &node,
                       DType type = f32);
  std::string size(const std::string &name, SizeSource value);
  std::string sizeOf(int dimension) {
    return size(numbered("size", size_t(dimension)),
                {SizeSource::Of::Dimension, 0, uint32_t(dimension)});
  }
  void line(const std::string &text) { body += "    " + text + "\n"; }

  Value valueOf(const Node *node);
  Value number(const Node &node, DType type);
  Value compute(const Node &node);
  std::string operand(const Node *node, DType type);
  std::string cast(const Value &value, DType type);

  KernelText &kernel;
  const Recorded &graph;
  const Loops &loops;
  bool isForm; ///< writeForm
  std::string body, parameters;
  std::map<std::string, bool> sizeNames;
  std::unordered_map<const Node *, Value> values;
  std::map<std::string, Value> byText; ///< the same operation once
  size_t numbers = 0, names = 0;
  bool usesLibdevice = false, drawsNumbers = false;
};

} // namespace

/// A size as a parameter, once.
std::string Writer::size(const std::string &name, SizeSource value) {
  if (sizeNames.try_emplace(name, true).second) {
    parameters += ", " + name;
    kernel.sizes.push_back(value);
  }
  return name;
}

/// What of the tile a tensor's element depends on, beside its own strides.
std::string Writer::offset(size_t t, bool &rows, bool &columns) {
  auto strideOf = [&](int d) { return loops.stride(t, size_t(d)); };
  std::string text, own = t < graph.tensors.size() ? numbered("x", t) : "y";
  auto add = [&](const std::string &index, const std::string &name,
                 int64_t stride, SizeSource source) {
    text += " + " + index;
    if (stride != 1) {
      text += " * " + size(own + name, source);
    }
  };
  auto addDimension = [&](int d) {
    add(numbered("i", size_t(d)), "_stride" + std::to_string(d), strideOf(d),
        {SizeSource::Of::Stride, uint32_t(t), uint32_t(d)});
  };
  int last = loops.last();
  rows = columns = false;
  for (int d = 0; d < last; ++d) {
    if (!loops.isOfRows(d) && strideOf(d)) {
      addDimension(d);
    }
  }
  std::optional<int64_t> together = loops.strideOfRows(t);
  const char *asColumn = "[:, None]";
  if (together) {
    if (*together) {
      rows = true;
      add("rows", "_row", *together,
          {SizeSource::Of::RowStride, uint32_t(t), 0});
    }
  } else {
    for (int d = 0; d < last; ++d) {
      if (loops.isOfRows(d) && strideOf(d)) {
        rows = true;
        addDimension(d);
      }
    }
  }
  if (strideOf(last)) {
    columns = true;
  }
  if (columns && rows) {
    text = " + (" + text.substr(3) + ")" + asColumn;
  }
  if (columns) {
    std::string index = loops.isFlat() ? "at" : "cols";
    if (strideOf(last) != 1) {
      index += loops.wide && !loops.isFlat() ? ".to(tl.int64)" : "";
      index += " * " + size(own + "_column", {SizeSource::Of::Stride,
                                              uint32_t(t), uint32_t(last)});
    }
    text += " + " + (rows ? "(" + index + ")[None, :]" : index);
  }
  return text;
}

/// The indices of a program's elements. Dimensions of rows are taken apart
/// only where a tensor has no one stride for them.
void Writer::writeIndices() {
  std::string wide = loops.wide ? ".to(tl.int64)" : "";
  if (loops.isFlat()) {
    size("n", {SizeSource::Of::Columns});
    line("at = tl.program_id(0)" + wide + " * BLOCK + tl.arange(0, BLOCK)");
    line("inside = at < n");
    return;
  }
  size("row_count", {SizeSource::Of::Rows});
  size("column_count", {SizeSource::Of::Columns});
  line("program = tl.program_id(0)");
  line("column_blocks = tl.cdiv(column_count, BLOCK_N)");
  line("cols = (program % column_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)");
  line("program //= column_blocks");
  int last = loops.last();
  if (loops.rowDimension >= 0) {
    line("row_blocks = tl.cdiv(row_count, BLOCK_M)");
    line("rows = (program % row_blocks)" + wide +
         " * BLOCK_M + tl.arange(0, BLOCK_M)");
    if (loops.batches() > 1 || loops.sizes.size() > 2) {
      line("program //= row_blocks");
      for (int d = last; d-- > 0;) {
        if (!loops.isOfRows(d)) {
          std::string name = sizeOf(d);
          line(numbered("i", size_t(d)) + " = (program % " + name + ")" + wide);
          line("program //= " + name);
        }
      }
    }
  } else {
    line("rows = program" + wide + " * BLOCK_M + tl.arange(0, BLOCK_M)");
    bool divides = false;
    for (size_t t = 0; t < loops.tensors(); ++t) {
      divides |= !loops.strideOfRows(t);
    }
    if (divides) {
      line("rest = rows");
      for (int d = last; d-- > 0;) {
        std::string name = sizeOf(d);
        line(numbered("i", size_t(d)) + " = rest % " + name);
        line("rest = rest // " + name);
      }
    }
  }
  line("inside = (rows < row_count)[:, None] & (cols < column_count)[None, :]");
}

void Writer::loadTensors() {
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    bool rows, columns;
    std::string at = offset(t, rows, columns);
    std::string mask = loops.isFlat()    ? (columns ? "inside" : "")
                       : rows && columns ? "inside"
                       : rows            ? "rows < row_count"
                       : columns         ? "cols < column_count"
                                         : "";
    std::string text = "tl.load(" + numbered("x", t) + "_ptr" + at +
                       (mask.empty() ? "" : ", mask=" + mask) + ")";
    if (!loops.isFlat() && rows != columns) {
      text += rows ? "[:, None]" : "[None, :]";
    }
    DType dtype = graph.tensors[t]->dtype();
    if (computedIn(dtype) != dtype || isForm) {
      text += ".to(tl.float32)";
    }
    line(numbered("x", t) + " = " + text);
  }
}

/// Numbers are fp32 unless it is said.
std::string Writer::argument(NumberSource::Of value, const Node &node,
                             DType type) {
  std::string name = numbered("c", numbers++);
  parameters += ", " + name + (type == f64 ? ": tl.float64" : "");
  kernel.numbers.push_back({value, graph.placeOf(&node)});
  return name;
}

Value Writer::number(const Node &node, DType type) {
  Value value;
  value.isNumber = true;
  bool asInteger = !isFloat(type);
  value.type = asInteger ? i64 : type;
  int64_t integer = node.isInteger ? node.integer : int64_t(node.number);
  if (graph.isLiteral(node)) {
    value.isLiteral = true;
    value.isName = node.number >= 0;
    value.name =
        asInteger ? std::to_string(integer) : literal(node.number, type);
    if (type == f64) {
      value.name = "tl.full((), " + value.name + ", tl.float64)";
      value.isName = true;
    }
    return value;
  }
  value.name =
      argument(asInteger ? NumberSource::Of::Integer : NumberSource::Of::Real,
               node, value.type);
  return value;
}

std::string Writer::cast(const Value &value, DType type) {
  std::string name = value.isName ? value.name : "(" + value.name + ")";
  if (value.type == type) {
    return name;
  }
  if (type == i1) {
    return "(" + name + " != 0)";
  }
  if (value.isLiteral) {
    return "tl.full((), " + name + ", " + typeName(type) + ")";
  }
  return name + ".to(" + typeName(type) + ")";
}

/// A node's value as a number of `type`, one that arithmetic is done in.
std::string Writer::operand(const Node *node, DType type) {
  if (node->op == Op::Number || node->op == Op::Constant) {
    auto key = numbered(type == f64     ? "double "
                        : isFloat(type) ? "float "
                                        : "integer ",
                        reinterpret_cast<size_t>(node));
    auto found = byText.find(key);
    if (found == byText.end()) {
      found = byText.emplace(key, number(*node, type)).first;
    }
    const Value &value = found->second;
    if (!isFloat(type) && type != i1 && !(value.isLiteral && value.isName)) {
      // It takes the type of what it meets, and wraps as PyTorch's do.
      std::string wide = value.isLiteral
                             ? "tl.full((), " + value.name + ", tl.int64)"
                             : value.name;
      return wide + ".to(" + typeName(type) + ")";
    }
    return value.isName ? value.name : "(" + value.name + ")";
  }
  return cast(valueOf(node), type);
}

Value Writer::valueOf(const Node *node) {
  if (node->op == Op::Number || node->op == Op::Constant) {
    Value value;
    value.isNumber = true;
    value.type = isFloat(node->dtype) ? f32 : i64;
    value.name = "tl.full((), " + operand(node, value.type) + ", " +
                 typeName(value.type) + ")";
    return value;
  }
  return values.at(node);
}

static const char *infix(Op op) {
  switch (op) {
  case Op::Add:
    return " + ";
  case Op::Subtract:
    return " - ";
  case Op::Multiply:
    return " * ";
  case Op::Divide:
    return " / ";
  case Op::Less:
    return " < ";
  case Op::LessEqual:
    return " <= ";
  case Op::Equal:
    return " == ";
  case Op::NotEqual:
    return " != ";
  default:
    return nullptr;
  }
}

static const char *function(Op op) {
  switch (op) {
  case Op::Exp:
    return "tl.exp";
  case Op::Log:
    return "tl.log";
  case Op::Sqrt:
    return "tl.sqrt";
  case Op::Rsqrt:
    return "tl.rsqrt";
  case Op::Tanh:
    return "libdevice.tanh";
  case Op::Sigmoid:
    return "tl.sigmoid";
  case Op::Erf:
    return "tl.erf";
  case Op::Abs:
    return "tl.abs";
  case Op::Sin:
    return "tl.sin";
  case Op::Cos:
    return "tl.cos";
  case Op::Floor:
    return "tl.floor";
  case Op::Ceil:
    return "tl.ceil";
  case Op::Round:
    return "libdevice.rint";
  case Op::Log1p:
    return "libdevice.log1p";
  case Op::Expm1:
    return "libdevice.expm1";
  default:
    return nullptr;
  }
}

DType expression::comparedIn(const Node &a, const Node &b) {
  if (isFloat(a.dtype) || isFloat(b.dtype)) {
    bool isDouble =
        (a.dtype == f64 && !a.isNumber) || (b.dtype == f64 && !b.isNumber);
    return isDouble ? f64 : f32;
  }
  const Node &wider = a.isNumber                              ? b
                      : b.isNumber                            ? a
                      : bitWidth(a.dtype) > bitWidth(b.dtype) ? a
                                                              : b;
  return wider.dtype == i1 ? i32
         : isSigned(a.dtype) == isSigned(b.dtype) || a.isNumber || b.isNumber
             ? wider.dtype
             : i64;
}

Value Writer::compute(const Node &node) {
  Value value;
  value.type = computedIn(node.dtype);
  auto input = [&](size_t i) { return node.inputs[i].get(); };
  std::string &text = value.name;
  constexpr const char *nans = ", propagate_nan=tl.PropagateNan.ALL";
  switch (node.op) {
  case Op::Cast: {
    const Value &from = valueOf(input(0));
    bool isWide = node.dtype == f32 || node.dtype == f64;
    if (isWide || (isFloat(node.dtype) && !isFloat(from.type))) {
      text = cast(from, value.type);
    } else {
      text = from.isName ? from.name : "(" + from.name + ")";
    }
    if (node.dtype == i1) {
      text += " != 0";
    } else if (!isWide) {
      text += ".to(" + typeName(node.dtype) + ")";
      text += isFloat(node.dtype) ? ".to(tl.float32)" : "";
    }
    return value;
  }
  case Op::Less:
  case Op::LessEqual:
  case Op::Equal:
  case Op::NotEqual: {
    DType type = comparedIn(*input(0), *input(1));
    text = operand(input(0), type) + infix(node.op) + operand(input(1), type);
    return value;
  }
  case Op::Where:
    text = "tl.where(" + operand(input(0), i1) + ", " +
           operand(input(1), value.type) + ", " +
           operand(input(2), value.type) + ")";
    if (input(1)->isNumber && input(2)->isNumber) {
      text += ".to(" + typeName(value.type) + ")";
    }
    return value;
  case Op::Maximum:
  case Op::Minimum:
    text = std::string(node.op == Op::Maximum ? "tl.maximum(" : "tl.minimum(") +
           operand(input(0), value.type) + ", " +
           operand(input(1), value.type) + (isFloat(value.type) ? nans : "") +
           ")";
    return value;
  case Op::Relu:
    text = "tl.maximum(" + operand(input(0), value.type) +
           (isFloat(value.type) ? std::string(", 0.0") + nans : ", 0") + ")";
    return value;
  case Op::Negate:
    text = "-" + operand(input(0), value.type);
    return value;
  case Op::Dropout: {
    if (!drawsNumbers) {
      line("position = " + offsetOfResult());
      drawsNumbers = true;
    }
    using Of = NumberSource::Of;
    std::string seed = argument(Of::Seed, node),
                offset = argument(Of::Offset, node),
                p = argument(Of::Probability, node),
                scale = argument(Of::Scale, node, value.type);
    text = "tl.where(tl.rand(" + seed + ", " + offset + " + position" +
           (graph.isFar(node) ? ".to(tl.int64)" : "") + ") < " + p + ", 0.0, " +
           operand(input(0), value.type) + " * " + scale + ")";
    return value;
  }
  case Op::Softplus: {
    // Nothing overflows, and small results keep their digits.
    usesLibdevice = true;
    std::string x = operand(input(0), value.type);
    text = std::string("tl.maximum(") + x + ", 0.0" + nans +
           ") + libdevice.log1p(tl.exp(-tl.abs(" + x + ")))";
    return value;
  }
  case Op::Power:
    usesLibdevice = true;
    text = "libdevice.pow(" + operand(input(0), value.type) + ", " +
           operand(input(1), value.type) + ")";
    return value;
  default:
    break;
  }
  if (const char *name = function(node.op)) {
    usesLibdevice |= std::strncmp(name, "libdevice", 9) == 0;
    const Node *x = input(0);
    text =
        std::string(name) + "(" +
        (x->isNumber ? cast(valueOf(x), value.type) : operand(x, value.type)) +
        ")";
    return value;
  }
  // A form is one for 2 * x and x * 2.
  bool swaps = isForm && (node.op == Op::Add || node.op == Op::Multiply) &&
               input(0)->isNumber && !input(1)->isNumber;
  text = operand(input(swaps), value.type) + infix(node.op) +
         operand(input(!swaps), value.type);
  return value;
}

/// Of a tile's elements in the result, which is row-major unless `result` is
/// given.
std::string Writer::offsetOfResult() {
  if (graph.hasResult()) {
    bool rows, columns;
    return offset(graph.tensors.size(), rows, columns).substr(3);
  }
  if (loops.isFlat()) {
    return "at";
  }
  if (loops.rowDimension < 0) {
    return "(rows * column_count)[:, None] + cols[None, :]";
  }
  // Each dimension's stride is the product of the sizes behind.
  std::string row, stride = "column_count";
  for (int d = loops.last(); d-- > 0;) {
    std::string index = loops.isOfRows(d) ? "rows" : numbered("i", size_t(d));
    row = index + " * " + stride + (row.empty() ? "" : " + " + row);
    stride +=
        " * " + (loops.isOfRows(d) ? "row_count" : numbered("size", size_t(d)));
  }
  return "(" + row + ")[:, None] + cols[None, :]";
}

void expression::checkDropout(std::span<const Node *const> nodes,
                              const Shape &shape) {
  for (const Node *node : nodes) {
    if (node->op == Op::Dropout && node->shape != shape) {
      raise(
          {ErrorCode::InvalidArgument,
           "expression: dropout: expected a tensor of the result's shape, got "
           "one that is broadcast after; hint: evaluate it first",
           {}});
    }
  }
}

void Writer::write() {
  std::span<const NodePtr> roots = graph.roots;
  writeIndices();
  loadTensors();
  std::string at = offsetOfResult(); // sizes are in front of numbers
  for (uint32_t place = 0; place < graph.order.size(); ++place) {
    const Node *node = graph.order[place];
    uint32_t tensor = graph.tensorOf(place);
    if (tensor != Recorded::nowhere) {
      Value value;
      value.name = numbered("x", tensor);
      value.type = isForm ? f32 : computedIn(node->dtype);
      values[node] = value;
    } else if (node->op != Op::Number && node->op != Op::Constant) {
      Value value = compute(*node);
      std::string key = typeName(value.type) + " " + value.name;
      auto [found, isNew] = byText.try_emplace(key, value);
      if (isNew) {
        std::string name = numbered("t", names++);
        line(name + " = " + value.name);
        found->second.name = name;
      }
      values[node] = found->second;
    }
  }
  std::string outputs, pointers;
  for (size_t k = 0; k < roots.size(); ++k) {
    std::string name = roots.size() == 1 ? "y" : numbered("y", k);
    outputs += (k ? ", " : "") + name + "_ptr";
    Value value = valueOf(roots[k].get());
    line("tl.store(" + name + "_ptr + " + at + ", " + value.name +
         ", mask=inside)");
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    pointers += ", " + numbered("x", t) + "_ptr";
  }
  kernel.text =
      std::string("import triton\nimport triton.language as tl\n") +
      (usesLibdevice ? "from triton.language.extra import libdevice\n" : "") +
      "\n\n@triton.jit\ndef expression_kernel(" + outputs + pointers +
      parameters + ", " +
      (loops.isFlat() ? "BLOCK: tl.constexpr"
                      : "BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr") +
      "):\n" + body;
}

KernelText expression::writeKernel(const Recorded &expression) {
  KernelText kernel;
  Writer(kernel, expression).write();
  return kernel;
}

FormText expression::writeForm(std::span<const NodePtr> roots,
                               const Tensor &gradient) {
  Tensor none;
  Recorded graph(roots, gradient, none, true);
  KernelText kernel = writeKernel(graph);
  FormText form{std::move(kernel.text), {}, {}};
  for (const Tensor *tensor : graph.tensors) {
    form.tensors.push_back(*tensor);
  }
  for (const NumberSource &number : kernel.numbers) {
    form.numbers.push_back(graph.valueOf(number));
  }
  return form;
}
