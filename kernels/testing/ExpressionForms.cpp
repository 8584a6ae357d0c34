//===- ExpressionForms.cpp - Expressions that are compiled ahead of time --===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NereidExpressionForms kernels|signatures prints kernels/expression/
// expression.py or its ahead.txt. scripts/update-docs writes both.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Text.h"

#include <cstdio>
#include <cstring>
#include <functional>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

namespace {

struct Form {
  std::string name;
  FormText kernel;
  size_t results;
};

class Forms {
public:
  using Function = std::function<Expression(std::span<const Expression>)>;

  /// Of fp32, fp16 and bf16, with the derivative by each set of operands.
  void common(const std::string &name, size_t operands, const Function &f);
  /// Of fp32: what other expressions are made of.
  void single(const std::string &name, size_t operands, const Function &f);

  std::vector<Form> all;

private:
  void append(const std::string &name, std::span<const NodePtr> roots);
};

} // namespace

static std::vector<Expression> leavesOf(size_t count) {
  std::vector<Expression> leaves;
  for (size_t i = 0; i < count; ++i) {
    leaves.push_back(empty({2}, f32, Device::cpu()));
  }
  return leaves;
}

/// The text decides: a derivative may be a kernel that is there already.
void Forms::append(const std::string &name, std::span<const NodePtr> roots) {
  FormText kernel = writeForm(roots, empty({2}, f32, Device::cpu()));
  for (const Form &other : all) {
    if (other.kernel.text == kernel.text) {
      return;
    }
  }
  all.push_back({name, std::move(kernel), roots.size()});
}

void Forms::single(const std::string &name, size_t operands,
                   const Function &f) {
  NodePtr root = f(leavesOf(operands)).node;
  append(name + "_fp32", {&root, 1});
}

void Forms::common(const std::string &name, size_t operands,
                   const Function &f) {
  std::vector<Expression> leaves = leavesOf(operands);
  NodePtr root = f(leaves).node;
  append(name, {&root, 1});
  std::vector<NodePtr> nodes;
  for (const Expression &leaf : leaves) {
    nodes.push_back(leaf.node);
  }
  std::vector<NodePtr> derived =
      derivatives(root, gradientOf(*root).node, nodes);
  for (size_t set = 1; set < size_t{1} << operands; ++set) {
    std::vector<NodePtr> roots;
    std::string by;
    for (size_t i = 0; i < operands; ++i) {
      // A gradient that is the result's own needs no kernel.
      if ((set >> i & 1) && derived[i] && derived[i]->op != Op::Gradient) {
        roots.push_back(derived[i]);
        by += operands == 1 ? "" : "_" + std::to_string(i);
      }
    }
    if (!roots.empty()) {
      append(name + "_backward" + by, roots);
    }
  }
}

static std::vector<Form> makeForms() {
  using Operands = std::span<const Expression>;
  constexpr double number = 0.1;
  Forms forms;
  forms.common("add", 2, [](Operands x) { return x[0] + x[1]; });
  forms.common("subtract", 2, [](Operands x) { return x[0] - x[1]; });
  forms.common("multiply", 2, [](Operands x) { return x[0] * x[1]; });
  forms.common("scale", 1, [](Operands x) { return x[0] * number; });
  forms.common("shift", 1, [](Operands x) { return x[0] + number; });
  forms.common("add_scaled", 2,
               [](Operands x) { return x[0] + x[1] * number; });
  forms.common("square", 1, [](Operands x) { return x[0] * x[0]; });
  forms.common("sigmoid", 1, [](Operands x) { return sigmoid(x[0]); });
  forms.common("tanh", 1, [](Operands x) { return tanh(x[0]); });
  forms.common("relu", 1, [](Operands x) { return relu(x[0]); });
  forms.common("relu_squared", 1, [](Operands x) { return reluSquared(x[0]); });
  forms.common("silu", 1, [](Operands x) { return silu(x[0]); });
  forms.common("gelu", 1, [](Operands x) { return gelu(x[0]); });
  forms.common("gelu_tanh", 1, [](Operands x) { return geluTanh(x[0]); });
  forms.common("swiglu", 2, [](Operands x) { return swiglu(x[0], x[1]); });
  forms.common("geglu", 2, [](Operands x) { return geglu(x[0], x[1]); });
  forms.common("dropout", 1,
               [](Operands x) { return dropout(x[0], number, 1); });
  forms.common("add_dropout", 2,
               [](Operands x) { return x[0] + dropout(x[1], number, 1); });

  forms.single("divide", 2, [](Operands x) { return x[0] / x[1]; });
  forms.single("subtract_number", 1, [](Operands x) { return x[0] - number; });
  forms.single("number_subtract", 1, [](Operands x) { return number - x[0]; });
  forms.single("divide_number", 1, [](Operands x) { return x[0] / number; });
  forms.single("number_divide", 1, [](Operands x) { return number / x[0]; });
  forms.single("negate", 1, [](Operands x) { return -x[0]; });
  forms.single("exp", 1, [](Operands x) { return exp(x[0]); });
  forms.single("log", 1, [](Operands x) { return log(x[0]); });
  forms.single("sqrt", 1, [](Operands x) { return sqrt(x[0]); });
  forms.single("rsqrt", 1, [](Operands x) { return rsqrt(x[0]); });
  forms.single("erf", 1, [](Operands x) { return erf(x[0]); });
  forms.single("abs", 1, [](Operands x) { return abs(x[0]); });
  forms.single("sin", 1, [](Operands x) { return sin(x[0]); });
  forms.single("cos", 1, [](Operands x) { return cos(x[0]); });
  forms.single("log1p", 1, [](Operands x) { return log1p(x[0]); });
  forms.single("softplus", 1, [](Operands x) { return softplus(x[0]); });
  forms.single("pow", 1, [](Operands x) { return pow(x[0], number); });
  forms.single("less", 2, [](Operands x) { return x[0] < x[1]; });
  forms.single("less_equal", 2, [](Operands x) { return x[0] <= x[1]; });
  forms.single("equal", 2, [](Operands x) { return equal(x[0], x[1]); });
  forms.single("not_equal", 2, [](Operands x) { return notEqual(x[0], x[1]); });
  forms.single("maximum", 2, [](Operands x) { return maximum(x[0], x[1]); });
  forms.single("minimum", 2, [](Operands x) { return minimum(x[0], x[1]); });
  forms.single("where", 3, [](Operands x) { return where(x[0], x[1], x[2]); });
  forms.single("is_not_zero", 1, [](Operands x) { return cast(x[0], i1); });
  return std::move(forms.all);
}

static std::string kernelText(std::span<const Form> forms) {
  std::string text =
      R"("""Common expressions, their derivatives, and each operation alone, for programs without a compiler.

scripts/update-docs writes this file: the expressions are in kernels/testing/ExpressionForms.cpp.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
)";
  for (const Form &form : forms) {
    constexpr std::string_view head =
        "\n\n\n@triton.jit\ndef expression_kernel";
    const std::string &own = form.kernel.text;
    text += "\n\n@triton.jit\ndef " + form.name + "_kernel" +
            own.substr(own.find(head) + head.size());
  }
  return text;
}

static std::string signatures(std::span<const Form> forms) {
  std::string text =
      "# Forms of expression.py that are compiled ahead of time (cmake/"
      "AheadOfTimeForms.cmake says how to read this).\n"
      "# scripts/update-docs writes this file.\n";
  for (const Form &form : forms) {
    std::string name = form.name + "_kernel";
    text += form.name.ends_with("_fp32") ? "T=fp32" : "T=fp32,fp16,bf16";
    text += " N=i64:16,i64 | " + name + "(";
    size_t pointers = form.results + form.kernel.tensors.size();
    for (size_t i = 0; i < pointers; ++i) {
      text += "*$T:16, ";
    }
    text += "$N";
    for (const LaunchArgument &number : form.kernel.numbers) {
      text += number.value.kind == Argument::Kind::Int ? ", i64" : ", fp32";
    }
    text += ", BLOCK=1024, num_warps=4)\n";
  }
  return text;
}

int main(int count, char **arguments) {
  std::vector<Form> forms = makeForms();
  if (count == 2 && !std::strcmp(arguments[1], "kernels")) {
    std::fputs(kernelText(forms).c_str(), stdout);
  } else if (count == 2 && !std::strcmp(arguments[1], "signatures")) {
    std::fputs(signatures(forms).c_str(), stdout);
  } else {
    std::fputs("expected kernels or signatures\n", stderr);
    return 2;
  }
}
