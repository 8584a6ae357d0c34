//===- TileToTileGPU.cpp - Which thread holds which element ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations are visited in order; each is replaced by one on tensors with
// layouts, in front of it. The old operation stays until the end and marks the
// place where a flexible value is computed in yet another layout, or a value
// converted: whatever is made there dominates what the old value dominated.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/StructuredControl.h"
#include "nereid/Conversion/TileToTileGPU/LayoutChoice.h"
#include "nereid/Conversion/TileToTileGPU/Passes.h"
#include "nereid/Dialect/Tile/IR/Kernel.h"

#include "mlir/IR/Matchers.h"

#include <bit>
#include <map>

using namespace mlir;
using nereid::tilegpu::layoutOf;
using nereid::tilegpu::shapeOf;
using nereid::tilegpu::withLayout;

namespace nereid::totilegpu {
namespace {

bool isTensor(Type type) { return isa<RankedTensorType>(type); }
bool isTensor(Value value) { return isTensor(value.getType()); }

class Rewriter {
public:
  Rewriter(func::FuncOp kernel, LayoutChoice choice)
      : kernel(kernel), choice(std::move(choice)), b(kernel.getContext()) {}

  void run() {
    visit(kernel.getBody().front());
    // References first: a loop's old body refers to its old arguments.
    for (Operation *op : old) {
      op->dropAllUses();
      op->dropAllReferences();
    }
    for (Operation *op : old) {
      op->erase();
    }
  }

private:
  void visit(Block &block);
  void visit(Operation *op);
  void visitFor(scf::ForOp loop);
  void visitIf(scf::IfOp branch);
  void visitWhile(scf::WhileOp loop);
  void visitYield(Operation *op, ArrayRef<Type> types);
  void visitUserFunction(Operation *op);
  void visitStructured(tile::StructuredOp op);
  TileLayout layoutOfOperand(tile::StructuredOp op, unsigned index,
                             ArrayRef<Value> made);
  void visitElementwise(Operation *op);

  /// The old value in `layout`.
  Value in(Value value, const TileLayout &layout);
  Value atAnchor(Value value) {
    return in(value, choice.anchorOrDefault(value));
  }
  /// A flexible value, made in `layout`.
  Value make(Value value, const TileLayout &layout);
  Type anchorType(Value value) {
    return isTensor(value)
               ? withLayout(value.getType(), choice.anchorOrDefault(value))
               : value.getType();
  }
  /// `to`, made in front of `op`, takes its place.
  void replace(Operation *op, ValueRange to);
  void setPointAt(Value value);

  func::FuncOp kernel;
  LayoutChoice choice;
  OpBuilder b;
  /// Old tensors that have an anchor.
  DenseMap<Value, Value> anchors;
  DenseMap<std::pair<Value, Attribute>, Value> variants;
  SmallVector<Operation *> old;
};

} // namespace

void Rewriter::replace(Operation *op, ValueRange to) {
  for (auto [from, value] : llvm::zip_equal(op->getResults(), to)) {
    if (isTensor(from)) {
      anchors[from] = value;
    } else {
      from.replaceAllUsesWith(value);
    }
  }
  old.push_back(op);
}

void Rewriter::setPointAt(Value value) {
  if (Operation *op = value.getDefiningOp()) {
    b.setInsertionPoint(op);
  } else {
    // The old argument's block is gone; its operations are in the new one.
    auto argument = cast<BlockArgument>(anchors.lookup(value));
    b.setInsertionPointToStart(argument.getOwner());
  }
}

Value Rewriter::in(Value value, const TileLayout &layout) {
  if (!isTensor(value)) {
    return value;
  }
  auto anchor = anchors.find(value);
  if (anchor != anchors.end() && layoutOf(anchor->second.getType()) == layout) {
    return anchor->second;
  }
  auto key =
      std::make_pair(value, Attribute(tilegpu::toAttr(b.getContext(), layout)));
  if (Value known = variants.lookup(key)) {
    return known;
  }
  OpBuilder::InsertionGuard guard(b);
  setPointAt(value);
  Value made;
  if (anchor != anchors.end()) {
    made = tilegpu::ConvertLayoutOp::create(
        b, value.getLoc(), withLayout(value.getType(), layout), anchor->second);
  } else {
    made = make(value, layout);
  }
  variants[key] = made;
  return made;
}

Value Rewriter::make(Value value, const TileLayout &layout) {
  Operation *op = value.getDefiningOp();
  unsigned result = cast<OpResult>(value).getResultNumber();
  RankedTensorType type = withLayout(value.getType(), layout);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    return arith::ConstantOp::create(
        b, op->getLoc(),
        dense.isSplat()
            ? DenseElementsAttr::get(type, dense.getSplatValue<Attribute>())
            : dense.reshape(type));
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    TileLayout wanted = layout;
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      wanted = narrow(layout, shapeOf(type),
                      shapeOf(broadcast.getSource().getType()));
    } else if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      std::vector<unsigned> inverse(transpose.getOrder().size());
      for (auto [d, from] : llvm::enumerate(transpose.getOrder())) {
        inverse[from] = d;
      }
      wanted = permute(layout, shapeOf(type), inverse);
    }
    operands.push_back(in(operand, wanted));
  }
  SmallVector<Type> types;
  for (Type t : op->getResultTypes()) {
    types.push_back(withLayout(t, layout));
  }
  return tile::recreate(b, op, operands, types)->getResult(result);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Anchored in one layout, operands and all.
void Rewriter::visitElementwise(Operation *op) {
  std::optional<TileLayout> layout = choice.anchorLayout(op->getResult(0));
  if (!layout) {
    old.push_back(op); // made where it is wanted
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(in(operand, *layout));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    types.push_back(withLayout(type, *layout));
  }
  replace(op, tile::recreate(b, op, operands, types)->getResults());
}

/// The user's own functions: made once, where they stand.
void Rewriter::visitUserFunction(Operation *op) {
  TileLayout layout = choice.anchorOrDefault(op->getResult(0));
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(in(operand, layout));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    types.push_back(withLayout(type, layout));
  }
  Operation *made = tile::recreate(b, op, operands, types);
  for (auto [from, to] : llvm::zip(op->getRegions(), made->getRegions())) {
    to.takeBody(from);
  }
  replace(op, made->getResults());
}

/// Where the operands are decides where the results are.
void Rewriter::visitStructured(tile::StructuredOp op) {
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    operands.push_back(in(operand, layoutOfOperand(op, i, operands)));
  }
  SmallVector<Type> types;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    Value named = operands[op.getResultPlacement(i).namedOperand()];
    types.push_back(
        isTensor(result)
            ? withLayout(result.getType(),
                         choice.resultOf(op, i, layoutOf(named.getType())))
            : result.getType());
  }
  Operation *made = tile::recreate(b, op, operands, types);
  for (auto [from, to] : llvm::zip(op->getRegions(), made->getRegions())) {
    to.takeBody(from);
  }
  replace(op, made->getResults());
}

/// `made`: the operands in front of it, where they lie now.
TileLayout Rewriter::layoutOfOperand(tile::StructuredOp op, unsigned index,
                                     ArrayRef<Value> made) {
  tile::Placement place = op.getOperandPlacement(index);
  Value operand = op->getOperand(index);
  switch (place.kind) {
  case tile::Placement::LikeOperand:
    return layoutOf(made[place.index].getType());
  case tile::Placement::LikeResult:
    return choice.anchorOrDefault(op->getResult(place.index));
  case tile::Placement::AlongAxis:
    return choice.alongAxis(operand.getType(), place.index);
  case tile::Placement::Standard:
    return choice.defaultLayout(operand.getType());
  default:
    return choice.anchorOrDefault(operand);
  }
}

void Rewriter::visitFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    inits.push_back(isTensor(init) ? in(init, choice.anchorOrDefault(argument))
                                   : init);
  }
  auto made = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(),
                                 loop.getUpperBound(), loop.getStep(), inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.setUnsignedCmp(loop.getUnsignedCmp());
  // A step of 0 must not hang. With a constant step, which loops nearly always
  // have, the counter is as fast as can be.
  if (!matchPattern(loop.getStep(), m_Constant())) {
    made->setAttr(lanes::exactLoop, b.getUnitAttr());
  }
  SmallVector<Type> types;
  for (Value argument : made.getRegionIterArgs()) {
    types.push_back(argument.getType());
  }
  // Old arguments stay for what has not been visited.
  Block *body = made.getBody(), *from = loop.getBody();
  if (body->mightHaveTerminator() && !body->empty()) {
    body->getTerminator()->erase();
  }
  for (auto [oldArgument, argument] :
       llvm::zip_equal(from->getArguments(), body->getArguments())) {
    if (isTensor(oldArgument)) {
      anchors[oldArgument] = argument;
    } else {
      oldArgument.replaceAllUsesWith(argument);
    }
  }
  body->getOperations().splice(body->end(), from->getOperations());
  visit(*body);
  visitYield(body->getTerminator(), types);
  b.setInsertionPoint(loop);
  replace(loop, made.getResults());
}

void Rewriter::visitIf(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Value result : branch.getResults()) {
    types.push_back(anchorType(result));
  }
  auto made =
      scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition(),
                        /*addThenBlock=*/false,
                        /*addElseBlock=*/false);
  made.getThenRegion().takeBody(branch.getThenRegion());
  made.getElseRegion().takeBody(branch.getElseRegion());
  for (Region *region : {&made.getThenRegion(), &made.getElseRegion()}) {
    if (!region->empty()) {
      visit(region->front());
      visitYield(region->front().getTerminator(), types);
    }
  }
  b.setInsertionPoint(branch);
  replace(branch, made.getResults());
}

void Rewriter::visitWhile(scf::WhileOp loop) {
  SmallVector<Value> inits;
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInits(), loop.getBeforeArguments())) {
    inits.push_back(isTensor(init) ? in(init, choice.anchorOrDefault(argument))
                                   : init);
  }
  SmallVector<Type> before, after;
  for (Value argument : loop.getBeforeArguments()) {
    before.push_back(anchorType(argument));
  }
  for (Value argument : loop.getAfterArguments()) {
    after.push_back(anchorType(argument));
  }
  auto made = scf::WhileOp::create(b, loop.getLoc(), after, inits);
  auto move = [&](Region &from, Region &to, ArrayRef<Type> types) {
    Block *body = new Block();
    to.push_back(body);
    for (auto [argument, type] :
         llvm::zip_equal(from.front().getArguments(), types)) {
      Value now = body->addArgument(type, argument.getLoc());
      if (isTensor(argument)) {
        anchors[argument] = now;
      } else {
        argument.replaceAllUsesWith(now);
      }
    }
    body->getOperations().splice(body->end(), from.front().getOperations());
    visit(*body);
  };
  move(loop.getBefore(), made.getBefore(), before);
  Operation *condition = made.getBefore().front().getTerminator();
  for (OpOperand &operand : condition->getOpOperands().drop_front()) {
    if (isTensor(operand.get())) {
      operand.set(
          in(operand.get(), layoutOf(after[operand.getOperandNumber() - 1])));
    }
  }
  move(loop.getAfter(), made.getAfter(), after);
  visitYield(made.getAfter().front().getTerminator(), before);
  b.setInsertionPoint(loop);
  replace(loop, made.getResults());
}

void Rewriter::visitYield(Operation *op, ArrayRef<Type> types) {
  for (auto [i, type] : llvm::enumerate(types)) {
    if (isTensor(type)) {
      op->setOperand(i, in(op->getOperand(i), layoutOf(type)));
    }
  }
}

void Rewriter::visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    visit(&op);
  }
}

/// What a check of pointers stands in front of; null for other operations.
static tile::MemoryAccess checkedAccess(Operation *op) {
  if (!isa<tile::CheckBoundsOp>(op) || !isTensor(op->getOperand(0))) {
    return nullptr;
  }
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    auto access = dyn_cast<tile::MemoryAccess>(next);
    if (access && access.getPtr() == op->getOperand(0)) {
      return access;
    }
  }
  return nullptr;
}

void Rewriter::visit(Operation *op) {
  b.setInsertionPoint(op);
  bool tensors =
      llvm::any_of(op->getOperandTypes(), [](Type t) { return isTensor(t); }) ||
      llvm::any_of(op->getResultTypes(), [](Type t) { return isTensor(t); });
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) { visitFor(loop); })
      .Case([&](scf::IfOp branch) { visitIf(branch); })
      .Case([&](scf::WhileOp loop) { visitWhile(loop); })
      .Case<scf::YieldOp, scf::ConditionOp>([](Operation *) {})
      .Case([&](tile::StructuredOp op) { visitStructured(op); })
      .Default([&](Operation *) {
        if (!tensors) {
          return;
        }
        if (auto access = dyn_cast<tile::MemoryAccess>(op)) {
          TileLayout layout = choice.accessLayout(access);
          SmallVector<Value> operands;
          for (Value operand : op->getOperands()) {
            operands.push_back(in(operand, layout));
          }
          SmallVector<Type> types;
          for (Type type : op->getResultTypes()) {
            types.push_back(withLayout(type, layout));
          }
          replace(op, tile::recreate(b, op, operands, types)->getResults());
          return;
        }
        if (auto dot = dyn_cast<tile::DotOp>(op)) {
          TileLayout layout = choice.dotResult(dot);
          reportDecision(op, [&] { return choice.decisionOf(dot); });
          Value operands[] = {in(dot.getLhs(), choice.dotOperand(dot, 0)),
                              in(dot.getRhs(), choice.dotOperand(dot, 1)),
                              in(dot.getC(), layout)};
          Operation *made = tile::recreate(b, op, operands,
                                           {withLayout(dot.getType(), layout)});
          if (choice.usesWarpgroupMma(dot)) {
            made->setAttr(tilegpu::warpgroupMmaAttr, b.getUnitAttr());
          } else if (choice.usesMma(dot)) {
            made->setAttr(tilegpu::mmaAttr, b.getUnitAttr());
          }
          replace(op, made->getResults());
          return;
        }
        if (isa<tile::MapOp, tile::InlineAsmOp>(op)) {
          visitUserFunction(op);
          return;
        }
        if (tile::isElementwise(op) || isa<tile::ExpandDimsOp>(op)) {
          visitElementwise(op);
          return;
        }
        bool hasResult = op->getNumResults() > 0;
        if (hasResult && isTensor(op->getResult(0)) &&
            !choice.anchorLayout(op->getResult(0))) {
          old.push_back(op);
          return;
        }
        if (isa<tile::TransposeOp>(op) ||
            (isa<tile::ReshapeOp>(op) &&
             keepsFlatIndex(shapeOf(op->getOperand(0).getType()),
                            shapeOf(op->getResult(0).getType())))) {
          Value made =
              make(op->getResult(0), *choice.anchorLayout(op->getResult(0)));
          replace(op, made);
          return;
        }
        // Debugging and whatever goes through memory: operands in their anchor
        // layouts.
        SmallVector<Value> operands;
        for (Value operand : op->getOperands()) {
          operands.push_back(atAnchor(operand));
        }
        if (auto join = dyn_cast<tile::JoinOp>(op);
            join && isTensor(join.getLhs())) {
          operands[1] = in(join.getRhs(), layoutOf(operands[0].getType()));
        }
        if (auto split = dyn_cast<tile::SplitOp>(op);
            split && isTensor(split.getLhs())) {
          operands[0] = in(split.getSource(),
                           joined(choice.anchorOrDefault(split.getLhs())));
        }
        // The access after a check asks it about each pointer that it has.
        if (tile::MemoryAccess access = checkedAccess(op)) {
          operands[0] = in(op->getOperand(0), choice.accessLayout(access));
        }
        if (isa<tile::CheckBoundsOp, tile::CheckNanOp>(op) &&
            operands.size() > 1 && isTensor(operands[0])) {
          operands[1] = in(op->getOperand(1), layoutOf(operands[0].getType()));
        }
        // Where operands are decides where the results of these are.
        std::optional<TileLayout> to;
        if (isa<tile::JoinOp>(op) && isTensor(operands[0])) {
          to = joined(layoutOf(operands[0].getType()));
        } else if (isa<tile::SplitOp>(op) && isTensor(op->getResult(0))) {
          to = choice.anchorOrDefault(op->getResult(0));
        }
        SmallVector<Type> types;
        for (Value result : op->getResults()) {
          types.push_back(to ? withLayout(result.getType(), *to)
                             : anchorType(result));
        }
        replace(op, tile::recreate(b, op, operands, types)->getResults());
      });
}

} // namespace nereid::totilegpu

namespace nereid {

#define GEN_PASS_DEF_TILETOTILEGPU
#include "nereid/Conversion/TileToTileGPU/Passes.h.inc"

namespace {
struct TileToTileGPUPass : impl::TileToTileGPUBase<TileToTileGPUPass> {
  using TileToTileGPUBase::TileToTileGPUBase;

  void runOnOperation() override {
    auto kernel = tile::findKernel(getOperation());
    if (!kernel.ok()) {
      getOperation()->emitError(kernel.failure().message);
      return signalPassFailure();
    }
    Builder b(&getContext());
    (*kernel)->setAttr(tilegpu::targetAttr, b.getStringAttr(target));
    (*kernel)->setAttr(tilegpu::warpsAttr, b.getI32IntegerAttr(warps));
    if (matrixSize) {
      (*kernel)->setAttr(tilegpu::matrixSizeAttr,
                         b.getI32IntegerAttr(matrixSize));
    }
    const tilegpu::TargetInfo *info = tilegpu::targetOf(*kernel);
    if (!info) {
      return signalPassFailure();
    }
    if (!std::has_single_bit(warps.getValue()) || warps > info->mostWarps) {
      (*kernel)->emitError("a program of ")
          << warps.getValue() << " warps; expected a power of two up to "
          << info->mostWarps << " for " << info->name;
      return signalPassFailure();
    }
    auto &axes = getChildAnalysis<AxisInfoAnalysis>(*kernel);
    totilegpu::Rewriter(
        *kernel, totilegpu::LayoutChoice(*kernel, *info, warps, axes,
                                         {usesMatrix, sharesRows, adoptsTiles}))
        .run();
  }
};
} // namespace

} // namespace nereid
