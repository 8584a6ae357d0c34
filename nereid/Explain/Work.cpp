//===- Work.cpp - What a launch has to do ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Work.h"

#include <algorithm>
#include <cstdio>

namespace nereid::explain {

std::string opcodeOf(const sim::Statement &statement) {
  std::string_view text = statement.text;
  if (text.starts_with("@")) {
    text.remove_prefix(std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return std::string(text.substr(0, text.find(' ')));
}

/// mma...m16n8k16...f32.f16.f16.f32, wgmma...m64n128k16.f32.bf16.bf16: the
/// latter is a warp's quarter.
Product productOf(const std::string &opcode) {
  bool isGroup = opcode.starts_with("wgmma.mma_async.");
  if (!isGroup && !opcode.starts_with("mma.sync.")) {
    return {};
  }
  unsigned m = 0, n = 0, k = 0;
  size_t shape = opcode.find(".m");
  while (shape != std::string::npos &&
         std::sscanf(opcode.c_str() + shape, ".m%un%uk%u", &m, &n, &k) != 3) {
    shape = opcode.find(".m", shape + 1);
  }
  Product product;
  product.isGroup = isGroup;
  product.operations = 2.0 * m * n * k / (isGroup ? 4 : 1);
  size_t last = opcode.rfind('.');
  size_t before = opcode.rfind('.', last - 1);
  product.type = isGroup ? opcode.substr(last + 1)
                         : opcode.substr(before + 1, last - before - 1);
  return product;
}

double floatOperationsOf(const std::string &opcode) {
  static constexpr std::string_view operations[] = {
      "add",  "sub",   "mul", "fma", "mad", "div", "rcp",
      "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"};
  size_t dot = opcode.find('.'), last = opcode.rfind('.');
  if (dot == std::string::npos) {
    return 0;
  }
  std::string_view name = std::string_view(opcode).substr(0, dot);
  std::string_view type = std::string_view(opcode).substr(last + 1);
  bool isFloat = type.starts_with("f") || type.starts_with("bf");
  if (!isFloat || std::find(std::begin(operations), std::end(operations),
                            name) == std::end(operations)) {
    return 0;
  }
  return (name == "fma" || name == "mad" ? 2 : 1) *
         (type.ends_with("x2") ? 2 : 1);
}

FloatUnit unitOf(const std::string &opcode) {
  static constexpr std::string_view functions[] = {
      "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"};
  if (floatOperationsOf(opcode) == 0) {
    return FloatUnit::None;
  }
  std::string_view name = std::string_view(opcode).substr(0, opcode.find('.'));
  std::string_view type =
      std::string_view(opcode).substr(opcode.rfind('.') + 1);
  if (std::find(std::begin(functions), std::end(functions), name) !=
      std::end(functions)) {
    return FloatUnit::Special;
  }
  return type == "f64"             ? FloatUnit::Double
         : type.starts_with("f32") ? FloatUnit::Single
                                   : FloatUnit::Half;
}

Work countWork(const sim::Program &program, const sim::Profile &profile) {
  Work work;
  work.isSample = profile.blocks != profile.gridBlocks;
  double scale =
      profile.blocks ? double(profile.gridBlocks) / double(profile.blocks) : 1;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    const sim::Counts &counts = profile.counts[i];
    if (!counts.executed) {
      continue;
    }
    std::string opcode = opcodeOf(program.statements[i]);
    work.floatOperations +=
        floatOperationsOf(opcode) * double(counts.lanes) * scale;
    if (Product product = productOf(opcode); product.operations) {
      work.productOperations[product.type] +=
          product.operations * double(counts.executed) * scale;
    }
  }
  sim::Traffic traffic = profile.traffic();
  work.bytesRead = traffic.read;
  work.bytesWritten = traffic.written;
  return work;
}

} // namespace nereid::explain
