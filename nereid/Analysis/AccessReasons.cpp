//===- AccessReasons.cpp - Why an access is as wide as it is --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AccessReasons.h"

#include "nereid/Analysis/ConstantStrides.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace nereid {

std::string elementName(Type element) {
  element = tile::getElement(element);
  if (isa<tile::PtrType>(element)) {
    return "pointers";
  }
  if (isa<Float8E4M3FNType>(element)) {
    return "fp8e4nv";
  }
  if (isa<Float8E5M2Type>(element)) {
    return "fp8e5";
  }
  if (element.isBF16()) {
    return "bf16";
  }
  if (!element.isIntOrFloat()) {
    return "elements";
  }
  return (isa<FloatType>(element) ? "fp" : "int") +
         std::to_string(element.getIntOrFloatBitWidth());
}

namespace {
/// What addresses are computed from.
struct AddressSources {
  Operation *loaded = nullptr; ///< a load of a tile of indices
  llvm::SetVector<StringRef>
      strides; ///< run-time factors of the tile's indices
};
} // namespace

/// The name of the kernel's parameter that `value` is, or a copy of it.
static StringRef parameterName(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp,
             arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, tile::HintOp>(
            op)) {
      return "";
    }
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  auto kernel = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!kernel) {
    return "";
  }
  auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  tile::nameAttr);
  return name ? name.getValue() : "";
}

static AddressSources sourcesOf(Value pointers) {
  AddressSources sources;
  SmallVector<Value> work = {pointers};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second || !isa<RankedTensorType>(value.getType())) {
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op) {
      auto argument = cast<BlockArgument>(value);
      Operation *parent = argument.getOwner()->getParentOp();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        work.push_back(loop.getTiedLoopInit(argument)->get());
      }
      continue;
    }
    if (isa<tile::MemoryAccess, tile::GatherOp>(op)) {
      sources.loaded = op;
      continue;
    }
    if (isa<arith::MulIOp>(op)) {
      for (Value operand : op->getOperands()) {
        StringRef name = parameterName(operand);
        if (!name.empty()) {
          sources.strides.insert(name);
        }
      }
    }
    llvm::append_range(work, op->getOperands());
  }
  return sources;
}

std::pair<std::string, std::string> whyNoRuns(Value pointers) {
  AddressSources sources = sourcesOf(pointers);
  if (sources.loaded) {
    return {"a gather: the indices are loaded" + inLine(sources.loaded), ""};
  }
  if (!sources.strides.empty()) {
    std::vector<std::string> names;
    for (StringRef name : sources.strides) {
      names.push_back("'" + name.str() + "'");
    }
    return {"neighbouring elements lie a distance apart that is known at run "
            "time only (" +
                llvm::join(names, ", ") + ")",
            "pass 1 as the stride along which elements lie side by side: a 1 "
            "is compiled in"};
  }
  ConstantStrides strides;
  int64_t least = 0;
  for (std::optional<int64_t> stride : strides.get(pointers)) {
    if (stride && *stride && (!least || std::abs(*stride) < least)) {
      least = std::abs(*stride);
    }
  }
  if (least) {
    return {"neighbouring elements lie " + byteCount(least) + " apart",
            "let the last dimension run along consecutive addresses"};
  }
  return {"no consecutive addresses are known of the tile",
          "tl.max_contiguous(tl.multiple_of(offsets, N), N) where they are"};
}

Decision decisionOf(StringRef subject, const AccessForm &access,
                    const AxisInfoAnalysis &axes) {
  Type element = tile::getPointeeLike(access.pointers.getType());
  unsigned bytes = tile::getElementBytes(tile::getElement(element));
  unsigned moved = access.width.elements * bytes;
  Decision d;
  d.subject = subject;
  if (!isa<RankedTensorType>(access.pointers.getType())) {
    d.chosen = "one " + elementName(element) + ", a scalar for all threads";
    return d;
  }
  d.chosen = byteCount(moved) + " an access (" +
             std::to_string(access.width.elements) + " x " +
             elementName(element) + ")";
  const AxisInfo &info = axes.get(access.pointers);
  unsigned axis = axes.order(access.pointers)[0];
  if (info.contiguity[axis] > 1) {
    d.chosen +=
        ", neighbours in runs of " + byteCount(info.contiguity[axis] * bytes);
  }
  std::string most = byteCount(access.mostBytes);
  switch (access.width.limit) {
  case WidthLimit::Most:
    return d;
  case WidthLimit::Runs:
    if (info.contiguity[axis] > 1) {
      d.rejected = most;
      d.reason = "only " + std::to_string(info.contiguity[axis]) +
                 " elements are known to lie side by side";
      d.hint = "a larger block along the last dimension, or "
               "tl.max_contiguous(offsets, N) where more do";
      return d;
    }
    d.rejected = "coalesced";
    std::tie(d.reason, d.hint) = whyNoRuns(access.pointers);
    return d;
  case WidthLimit::Alignment:
    d.rejected = most;
    d.reason = "the address is known to be divisible by " +
               byteCount(info.divisibility[axis]) + " only";
    d.hint = "strides and offsets divisible by 16: pass such values, or say "
             "tl.multiple_of(x, 16)";
    return d;
  case WidthLimit::Mask:
    d.rejected = most;
    d.reason = "the mask may change after " +
               counted(axes.get(access.mask).constancy[axis], "element");
    d.hint = "a bound divisible by 16: pass such a value, or say "
             "tl.multiple_of(n, 16)";
    return d;
  case WidthLimit::Layout: {
    int64_t elements =
        cast<RankedTensorType>(access.pointers.getType()).getNumElements();
    d.rejected = most;
    if (elements * bytes < access.threads * access.mostBytes) {
      d.reason =
          counted(elements, "element") + " on " +
          counted(access.threads, "thread") + " leave " +
          std::to_string(std::max<int64_t>(elements / access.threads, 1)) +
          " each";
      d.hint = "a larger block, or a smaller num_warps";
    } else {
      d.reason = "a thread holds no more neighbours in the layout of what the "
                 "tile is used with";
    }
    return d;
  }
  case WidthLimit::Checks:
    d.rejected = most;
    d.reason = "NEREID_CHECK=oob lets elements through one by one";
    return d;
  }
  llvm_unreachable("all limits are handled");
}

} // namespace nereid
