//===- AheadOfTime.cpp - Expressions without a compiler ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// expression.py has the kernels of common expressions and their derivatives,
// and of each operation alone, as writeForm writes them. An expression's own
// text says which of them it is, whatever it was written as.
//
// What lost: operators with names (add, swiglu ...) that choose a kernel. Their
// derivatives, and `silu(g) * u`, would need a second list to be found in.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Text.h"
#include "kernels/operator/KernelTypes.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Grid.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

static constexpr int64_t elementsOfProgram = 1024;

namespace {

struct FormKernel {
  FormKernel(const char *name, bool isForHalves)
      : kernel("expression", name), isForHalves(isForHalves) {}
  OperatorKernel kernel;
  bool isForHalves; ///< else of fp32 alone
};

/// The kernels of expression.py, by the rest of their name.
class FormKernels {
public:
  FormKernels();
  const FormKernel *find(const FormText &form) const;

private:
  std::deque<std::string> names;
  std::map<std::string, FormKernel, std::less<>> byText;
};

} // namespace

FormKernels::FormKernels() {
  std::string_view rest = sourceOf("expression");
  constexpr std::string_view def = "\ndef ", gap = "\n\n\n";
  for (size_t at; (at = rest.find(def)) != rest.npos;) {
    rest.remove_prefix(at + def.size());
    size_t behindName = rest.find('(');
    std::string_view text = rest.substr(behindName);
    if (size_t end = text.find(gap); end != text.npos) {
      text = text.substr(0, end + 1);
    }
    std::string &name =
        names.emplace_back(std::string(rest.substr(0, behindName)));
    byText.try_emplace(std::string(text), name.c_str(),
                       !name.ends_with("_fp32_kernel"));
  }
}

const FormKernel *FormKernels::find(const FormText &form) const {
  std::string_view text = form.text;
  auto found = byText.find(text.substr(text.rfind("\ndef expression_kernel(") +
                                       sizeof("\ndef expression_kernel") - 1));
  return found == byText.end() ? nullptr : &found->second;
}

static const FormKernels &formKernels() {
  static const FormKernels all;
  return all;
}

/// As the kernels take it: `isFresh`, where no other owner may have it.
static Tensor rowMajor(const Tensor &tensor, const Shape &shape, DType type,
                       bool isFresh = false) {
  Tensor wanted = tensor.to(type).expand(shape).contiguous();
  bool isGiven = wanted.data() == tensor.data();
  bool isAligned = reinterpret_cast<uintptr_t>(wanted.data()) % 16 == 0;
  return (isGiven && isFresh) || !isAligned ? wanted.clone() : wanted;
}

static std::vector<Tensor> launchForm(const FormText &form,
                                      const FormKernel &kernel,
                                      const Shape &shape, Device device,
                                      std::span<const DType> types) {
  DType common = kernel.isForHalves ? types[0] : f32;
  auto isCommon = [&](DType type) { return type == common; };
  bool isOfOneType =
      isKernelFloat(common) &&
      std::all_of(types.begin(), types.end(), isCommon) &&
      std::all_of(form.tensors.begin(), form.tensors.end(),
                  [&](const Tensor &t) { return t.dtype() == common; });
  DType type = isOfOneType ? common : f32;
  std::vector<Tensor> results;
  for (size_t i = 0; i < types.size(); ++i) {
    results.push_back(empty(shape, type, device));
  }
  int64_t count = results[0].numel();
  std::vector<Tensor> tensors;
  for (const Tensor &tensor : form.tensors) {
    tensors.push_back(rowMajor(tensor, shape, type));
  }
  std::vector<LaunchArgument> arguments(results.begin(), results.end());
  arguments.insert(arguments.end(), tensors.begin(), tensors.end());
  arguments.push_back(LaunchArgument(count));
  arguments.insert(arguments.end(), form.numbers.begin(), form.numbers.end());
  arguments.push_back({"BLOCK", Argument(elementsOfProgram)});
  kernel.kernel.launch(Grid(cdiv(count, elementsOfProgram)), arguments);
  for (size_t i = 0; i < types.size(); ++i) {
    results[i] = results[i].to(types[i]);
  }
  return results;
}

static std::string text(const Node &node) {
  std::string text = std::string(shortName(node.dtype)) + "[";
  for (size_t i = 0; i < node.shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(node.shape[i]);
  }
  return text + "]";
}

/// Kernels compute in fp32, which does not hold all integers.
static void checkFloats(std::span<const Node *const> nodes) {
  for (const Node *node : nodes) {
    if (node->inputs.empty()) {
      continue;
    }
    const Node *computed = node;
    bool isOfFloats = isKernelFloat(node->dtype);
    if (node->op == Op::Less || node->op == Op::LessEqual ||
        node->op == Op::Equal || node->op == Op::NotEqual) {
      isOfFloats = isFloat(comparedIn(*node->inputs[0], *node->inputs[1]));
      computed = node->inputs[node->inputs[0]->isNumber].get();
    } else if (node->op == Op::Cast && node->dtype == i1) {
      isOfFloats = true;
    }
    if (!isOfFloats) {
      raise({ErrorCode::InvalidArgument,
             "expression: expected fp32, fp16 or bf16, since " +
                 whoHasNoCompiler() + " to make a kernel of other types, got " +
                 text(*computed) + "; hint: cast to fp32 first, or " +
                 howToHaveACompiler(),
             {}});
    }
  }
}

namespace {

/// Each operation by a kernel of its own, in fp32.
class OneByOne {
public:
  OneByOne(std::span<const NodePtr> roots, std::span<const Node *const> order,
           const Tensor &gradient);
  std::vector<Tensor> results(std::span<const NodePtr> roots,
                              std::span<const DType> types);

private:
  Tensor valueOf(const Node *node, const Tensor &gradient);
  Tensor compute(const Node &node);
  Tensor numberAsTensor(const Node &node, Device device);

  std::unordered_map<const Node *, Tensor> values;
  std::unordered_map<const Node *, size_t> readers;
};

} // namespace

OneByOne::OneByOne(std::span<const NodePtr> roots,
                   std::span<const Node *const> order, const Tensor &gradient) {
  for (const Node *node : order) {
    for (const NodePtr &input : node->inputs) {
      ++readers[input.get()];
    }
  }
  for (const NodePtr &root : roots) {
    ++readers[root.get()];
  }
  for (const Node *node : order) {
    if (node->isNumber) {
      continue;
    }
    values[node] = valueOf(node, gradient);
    for (const NodePtr &input : node->inputs) {
      if (--readers[input.get()] == 0) {
        values.erase(input.get());
      }
    }
  }
}

Tensor OneByOne::valueOf(const Node *node, const Tensor &gradient) {
  if (node->inputs.empty()) {
    return rowMajor(node->op == Op::Gradient ? gradient : node->tensor,
                    node->shape, f32);
  }
  return compute(*node);
}

/// A number, or an operation of numbers.
Tensor OneByOne::numberAsTensor(const Node &node, Device device) {
  if (node.inputs.empty()) {
    return full({}, node.isInteger ? double(node.integer) : node.number, f32,
                device);
  }
  auto found = values.find(&node);
  if (found == values.end()) {
    Node placed = node;
    placed.device = device;
    found = values.emplace(&node, compute(placed)).first;
  }
  return found->second;
}

Tensor OneByOne::compute(const Node &node) {
  auto tensorOf = [&](const NodePtr &input) {
    return input->isNumber ? numberAsTensor(*input, *node.device)
                           : values.at(input.get());
  };
  if (node.op == Op::Cast && node.dtype != i1) {
    return tensorOf(node.inputs[0]).to(node.dtype).to(f32);
  }
  std::string missing;
  // A number is an argument where a kernel takes one there.
  for (bool numbersAreTensors : {false, true}) {
    auto one = std::make_shared<Node>(node);
    for (NodePtr &input : one->inputs) {
      bool isArgument = !numbersAreTensors && input->inputs.empty() &&
                        (input->op == Op::Number || input->op == Op::Constant);
      if (isArgument) {
        auto number = std::make_shared<Node>(*input);
        number->op = Op::Number;
        input = std::move(number);
      } else {
        input = Expression(tensorOf(input)).node;
      }
    }
    NodePtr root = std::move(one);
    FormText form = writeForm({&root, 1}, {});
    if (const FormKernel *kernel = formKernels().find(form)) {
      DType type = f32;
      return launchForm(form, *kernel, node.shape, *node.device, {&type, 1})[0];
    }
    missing = std::move(form.text);
  }
  raise({ErrorCode::Internal,
         "expression: no kernel was compiled ahead of time for\n" + missing,
         {}});
}

std::vector<Tensor> OneByOne::results(std::span<const NodePtr> roots,
                                      std::span<const DType> types) {
  std::vector<Tensor> results;
  for (size_t i = 0; i < roots.size(); ++i) {
    const Tensor &value = values.at(roots[i].get());
    // Of a leaf the value may be the caller's tensor; two roots may be one.
    bool isShared = roots[i]->inputs.empty() || readers[roots[i].get()] > 1;
    results.push_back(rowMajor(value, roots[i]->shape, types[i], isShared));
  }
  return results;
}

std::vector<Tensor>
expression::launchAheadOfTime(std::span<const NodePtr> roots,
                              std::span<const DType> types,
                              const Tensor &gradient) {
  if (!hasKernels("expression")) {
    raise({ErrorCode::NotFound,
           "expression: " + whoHasNoCompiler() +
               " to make its kernel, and there are none that were compiled "
               "ahead of time; hint: " +
               howToHaveACompiler() + ", or link Nereid::KernelsAheadOfTime",
           {}});
  }
  std::vector<const Node *> order = inOrder(roots);
  checkDropout(order, roots[0]->shape);
  checkFloats(order);
  if (roots[0]->shape.end() !=
      std::find(roots[0]->shape.begin(), roots[0]->shape.end(), 0)) {
    std::vector<Tensor> results;
    for (DType type : types) {
      results.push_back(empty(roots[0]->shape, type, *roots[0]->device));
    }
    return results;
  }
  FormText form = writeForm(roots, gradient);
  if (const FormKernel *kernel = formKernels().find(form)) {
    return launchForm(form, *kernel, roots[0]->shape, *roots[0]->device, types);
  }
  return OneByOne(roots, order, gradient).results(roots, types);
}
