//===- AssignSites.cpp - Operations that call the runtime, numbered -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/AssignSites.h"

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_ASSIGNSITES
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

SourceLocation sourceLocationOf(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    return sourceLocationOf(call.getCallee());
  }
  if (auto named = dyn_cast<NameLoc>(location)) {
    return sourceLocationOf(named.getChildLoc());
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      if (SourceLocation found = sourceLocationOf(part); found.line != 0) {
        return found;
      }
    }
  }
  SourceLocation result;
  if (auto range = dyn_cast<FileLineColRange>(location)) {
    result.file = range.getFilename().str();
    result.line = range.getStartLine();
    result.column = range.getStartColumn();
    result.endLine = range.getEndLine();
    result.endColumn = range.getEndColumn();
  }
  return result;
}

static DType dtypeOf(PrintOp print) {
  if (std::optional<DType> named = parseDType(print.getDtype().str())) {
    return *named;
  }
  return DType::UInt64; // "*fp32": an address
}

static ImageSite describe(Operation *op) {
  ImageSite site;
  site.location = sourceLocationOf(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](PrintOp print) {
        site.kind = ImageSite::Kind::Print;
        site.message = print.getPrefix().str();
        site.dtype = dtypeOf(print);
        site.hex = print.getHex();
        if (Value value = print.getValue()) {
          ArrayRef<int64_t> shape = getShape(value.getType());
          site.shape.assign(shape.begin(), shape.end());
        }
      })
      .Case([&](AssertOp assertion) {
        site.kind = ImageSite::Kind::Assert;
        site.message = assertion.getMessage().str();
      })
      .Case([&](CheckBoundsOp check) {
        site.kind = ImageSite::Kind::Bounds;
        site.message = check.getWhat().str();
        site.parameter = static_cast<int32_t>(check.getParameter());
        auto pointer = cast<PtrType>(getElement(check.getPtr().getType()));
        site.elementBytes = getElementBytes(pointer.getPointee());
        ArrayRef<int64_t> shape = getShape(check.getPtr().getType());
        site.shape.assign(shape.begin(), shape.end());
      })
      .Case([&](CheckNanOp check) {
        site.kind = ImageSite::Kind::Nan;
        site.message = check.getWhat().str();
        ArrayRef<int64_t> shape = getShape(check.getValue().getType());
        site.shape.assign(shape.begin(), shape.end());
      });
  return site;
}

std::vector<ImageSite> assignSites(func::FuncOp function) {
  std::vector<ImageSite> sites;
  Builder builder(function.getContext());
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<PrintOp, AssertOp, CheckBoundsOp, CheckNanOp>(op)) {
      op->setAttr(siteAttr, builder.getI32IntegerAttr(
                                static_cast<int32_t>(sites.size())));
      sites.push_back(describe(op));
    }
  });
  return sites;
}

namespace {
struct AssignSites : impl::AssignSitesBase<AssignSites> {
  void runOnOperation() override { (void)assignSites(getOperation()); }
};
} // namespace

} // namespace nereid::tile
