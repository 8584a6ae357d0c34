//===- ExpandMemory.cpp - Loads, stores, atomics --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane whose predicate is false must not touch memory, and no instruction
// reads a predicate but the exec mask, which LLVM sets where lanes branch. So
// an access with a predicate stands in a block of its own; the wait for what it
// loads comes at the first use, after the blocks of its neighbours.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/AMD/Transforms/Expander.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace nereid::amd {

/// LLVM's numbers of address spaces.
static unsigned addressSpace(Space space) {
  return space == Space::Global ? 1 : 3;
}

/// Replaces `op` by what `make` makes if `predicate` holds, and else by
/// `others`.
template <typename Make>
static void replaceGuarded(Operation *op, Value predicate, ValueRange others,
                           Make make) {
  OpBuilder b(op);
  if (!predicate) {
    op->replaceAllUsesWith(make(b));
    op->erase();
    return;
  }
  Location loc = op->getLoc();
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op);
  Block *inside = b.createBlock(after);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, predicate, inside, ValueRange(), after,
                         others);
  b.setInsertionPointToEnd(inside);
  SmallVector<Value> made = make(b);
  LLVM::BrOp::create(b, loc, made, after);
  for (Value old : op->getResults()) {
    old.replaceAllUsesWith(after->addArgument(old.getType(), loc));
  }
  op->erase();
}

static Value pointerOf(OpBuilder &b, Location loc, Space space, Value address,
                       int64_t offset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), addressSpace(space));
  Value pointer = LLVM::IntToPtrOp::create(b, loc, type, address);
  if (!offset) {
    return pointer;
  }
  return LLVM::GEPOp::create(
      b, loc, type, b.getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

static Value zeroOf(OpBuilder &b, Location loc, Type type) {
  return LLVM::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, 0));
}

static SmallVector<Value> zerosOf(OpBuilder &b, Location loc, TypeRange types) {
  SmallVector<Value> zeros;
  for (Type type : types) {
    zeros.push_back(zeroOf(b, loc, type));
  }
  return zeros;
}

static Value index(OpBuilder &b, Location loc, unsigned i) {
  return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                  b.getI32IntegerAttr(static_cast<int32_t>(i)));
}

/// The words of one access as LLVM moves them.
static Type accessType(OpBuilder &b, TypeRange words, bool isByte) {
  if (isByte) {
    return b.getI8Type();
  }
  return words.size() == 1
             ? words.front()
             : Type(VectorType::get(static_cast<int64_t>(words.size()),
                                    words.front()));
}

static unsigned bytesOf(TypeRange words, bool isByte) {
  return isByte ? 1 : words.size() * words.front().getIntOrFloatBitWidth() / 8;
}

static StringRef scopeName(Scope scope) {
  return scope == Scope::Workgroup ? "workgroup"
         : scope == Scope::Agent   ? "agent"
                                   : "";
}

static LLVM::AtomicOrdering orderingOf(Order order) {
  switch (order) {
  case Order::Weak:
  case Order::Volatile:
    return LLVM::AtomicOrdering::not_atomic;
  case Order::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case Order::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case Order::Release:
    return LLVM::AtomicOrdering::release;
  case Order::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  llvm_unreachable("all orders are handled");
}

static void expandLoad(LoadOp op) {
  OpBuilder outside(op);
  Location loc = op.getLoc();
  SmallVector<Value> others(op.getOthers());
  TypeRange words = op.getWords().getTypes();
  if (op.getPredicate() && others.empty()) {
    others = zerosOf(outside, loc, words);
  }
  replaceGuarded(
      op, op.getPredicate(), others, [&](OpBuilder &b) -> SmallVector<Value> {
        Value pointer =
            pointerOf(b, loc, op.getSpace(), op.getAddress(), op.getOffset());
        auto load = LLVM::LoadOp::create(
            b, loc, accessType(b, words, op.getByte()), pointer,
            bytesOf(words, op.getByte()), op.getOrder() == Order::Volatile,
            op.getCache() == Cache::Streamed);
        if (op.getOrder() == Order::Relaxed) {
          load.setOrdering(LLVM::AtomicOrdering::monotonic);
          load.setSyncscope(scopeName(*op.getScope()));
        }
        if (op.getByte()) {
          return {LLVM::ZExtOp::create(b, loc, words.front(), load)};
        }
        if (words.size() == 1) {
          return {load};
        }
        SmallVector<Value> parts;
        for (unsigned i = 0; i < words.size(); ++i) {
          parts.push_back(
              LLVM::ExtractElementOp::create(b, loc, load, index(b, loc, i)));
        }
        return parts;
      });
}

static void expandStore(StoreOp op) {
  Location loc = op.getLoc();
  TypeRange words = op.getWords().getTypes();
  replaceGuarded(
      op, op.getPredicate(), {}, [&](OpBuilder &b) -> SmallVector<Value> {
        Type type = accessType(b, words, op.getByte());
        Value value = op.getWords().front();
        if (op.getByte()) {
          value = LLVM::TruncOp::create(b, loc, type, value);
        } else if (words.size() > 1) {
          value = LLVM::PoisonOp::create(b, loc, type);
          for (auto [i, word] : llvm::enumerate(op.getWords())) {
            value = LLVM::InsertElementOp::create(b, loc, value, word,
                                                  index(b, loc, i));
          }
        }
        Value pointer =
            pointerOf(b, loc, op.getSpace(), op.getAddress(), op.getOffset());
        LLVM::StoreOp::create(
            b, loc, value, pointer, bytesOf(words, op.getByte()),
            /*isVolatile=*/false, op.getCache() == Cache::Streamed);
        return {};
      });
}

static void expandCompareAndSwap(CompareAndSwapOp op) {
  Location loc = op.getLoc();
  replaceGuarded(
      op, op.getPredicate(), op.getCompare(),
      [&](OpBuilder &b) -> SmallVector<Value> {
        Value pointer =
            pointerOf(b, loc, Space::Global, op.getAddress(), /*offset=*/0);
        Order order = op.getOrder();
        bool acquires = order == Order::Acquire || order == Order::AcqRel;
        auto exchange = LLVM::AtomicCmpXchgOp::create(
            b, loc, pointer, op.getCompare(), op.getValue(), orderingOf(order),
            acquires ? LLVM::AtomicOrdering::acquire
                     : LLVM::AtomicOrdering::monotonic,
            scopeName(op.getScope()));
        return {LLVM::ExtractValueOp::create(b, loc, exchange, 0)};
      });
}

static LLVM::AtomicBinOp toLLVM(Update update) {
  switch (update) {
  case Update::Add:
    return LLVM::AtomicBinOp::add;
  case Update::FAdd:
    return LLVM::AtomicBinOp::fadd;
  case Update::And:
    return LLVM::AtomicBinOp::_and;
  case Update::Or:
    return LLVM::AtomicBinOp::_or;
  case Update::Xor:
    return LLVM::AtomicBinOp::_xor;
  case Update::Exchange:
    return LLVM::AtomicBinOp::xchg;
  case Update::Max:
    return LLVM::AtomicBinOp::max;
  case Update::Min:
    return LLVM::AtomicBinOp::min;
  case Update::UMax:
    return LLVM::AtomicBinOp::umax;
  case Update::UMin:
    return LLVM::AtomicBinOp::umin;
  }
  llvm_unreachable("all updates are handled");
}

/// Arrays of a launch lie in the device's own memory, which other processors do
/// not cache: the instruction for sums of floats is right there, where LLVM
/// would else make a loop. Of scope `system` nothing is promised.
static void promiseOwnMemory(LLVM::AtomicRMWOp rmw, Scope scope) {
  if (scope == Scope::System) {
    return;
  }
  MLIRContext *context = rmw.getContext();
  for (StringRef name :
       {"rocdl.no_fine_grained_memory", "rocdl.no_remote_memory",
        "rocdl.ignore_denormal_mode"}) {
    rmw->setAttr(name, UnitAttr::get(context));
  }
}

static void expandAtomic(AtomicOp op) {
  OpBuilder outside(op);
  Location loc = op.getLoc();
  Type word = op.getValue().getType();
  SmallVector<Value> others;
  if (op.getOld() && op.getPredicate()) {
    others.push_back(zeroOf(outside, loc, word));
  }
  replaceGuarded(
      op, op.getPredicate(), others, [&](OpBuilder &b) -> SmallVector<Value> {
        Value pointer =
            pointerOf(b, loc, Space::Global, op.getAddress(), op.getOffset());
        Type element = op.getElement(), operand = word;
        if (isa<FloatType>(element)) {
          bool isPair =
              element.getIntOrFloatBitWidth() < word.getIntOrFloatBitWidth();
          operand = isPair ? VectorType::get(2, element) : element;
        }
        Value value = op.getValue();
        if (operand != word) {
          value = LLVM::BitcastOp::create(b, loc, operand, value);
        }
        auto rmw = LLVM::AtomicRMWOp::create(
            b, loc, toLLVM(op.getUpdate()), pointer, value,
            orderingOf(op.getOrder()), scopeName(op.getScope()));
        promiseOwnMemory(rmw, op.getScope());
        if (!op.getOld()) {
          return {};
        }
        Value old = rmw;
        if (operand != word) {
          old = LLVM::BitcastOp::create(b, loc, word, old);
        }
        return {old};
      });
}

static void expandCountShared(CountSharedOp op) {
  Location loc = op.getLoc();
  replaceGuarded(
      op, op.getPredicate(), {}, [&](OpBuilder &b) -> SmallVector<Value> {
        Value pointer =
            pointerOf(b, loc, Space::LDS, op.getAddress(), /*offset=*/0);
        LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, pointer,
                                  index(b, loc, op.getBy()),
                                  LLVM::AtomicOrdering::monotonic, "workgroup");
        return {};
      });
}

bool expandMemory(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](LoadOp load) { return expandLoad(load), true; })
      .Case([](StoreOp store) { return expandStore(store), true; })
      .Case([](CompareAndSwapOp swap) {
        return expandCompareAndSwap(swap), true;
      })
      .Case([](AtomicOp atomic) { return expandAtomic(atomic), true; })
      .Case([](CountSharedOp count) { return expandCountShared(count), true; })
      .Default(false);
}

} // namespace nereid::amd
