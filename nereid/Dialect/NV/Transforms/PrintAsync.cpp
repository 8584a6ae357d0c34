//===- PrintAsync.cpp - Assembly of barriers and copies of tensors --------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/AssemblyWriter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nv {

static void print(MbarrierInitOp op) {
  AssemblyWriter w(op);
  std::string barrier = w.use(op.getBarrier());
  w.write(w.when(op.getPredicate()) + "mbarrier.init.shared::cta.b64 [" +
              barrier + "], " + std::to_string(op.getCount()) + ";",
          true);
}

static void print(MbarrierInvalOp op) {
  AssemblyWriter w(op);
  std::string barrier = w.use(op.getBarrier());
  w.write(w.when(op.getPredicate()) + "mbarrier.inval.shared::cta.b64 [" +
              barrier + "];",
          true);
}

/// The address in another block is made here, so that no value of this block's
/// memory is ever one of the cluster's.
static void print(MbarrierArriveOp op) {
  AssemblyWriter w(op);
  std::string barrier = w.use(op.getBarrier());
  if (!op.getBlock()) {
    w.write(w.when(op.getPredicate()) + "mbarrier.arrive.shared::cta.b64 _, [" +
                barrier + "];",
            true);
    return;
  }
  std::string block = w.use(op.getBlock());
  w.write("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, " +
              barrier + ", " + block + ";\n\t" + w.when(op.getPredicate()) +
              "mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
              "[there];\n\t}",
          true);
}

static void print(MbarrierExpectTxOp op) {
  AssemblyWriter w(op);
  std::string barrier = w.use(op.getBarrier()), bytes = w.use(op.getBytes());
  w.write(w.when(op.getPredicate()) +
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [" + barrier +
              "], " + bytes + ";",
          true);
}

/// A name in braces is another one in each pair of braces, so that passes may
/// copy the text.
static void print(MbarrierWaitOp op) {
  AssemblyWriter w(op);
  std::string barrier = w.use(op.getBarrier()), parity = w.use(op.getParity());
  w.write("{\n\t.reg .pred done;\n\tagain:\n\t"
          "mbarrier.try_wait.parity.shared::cta.b64 done, [" +
              barrier + "], " + parity + ";\n\t@!done bra again;\n\t}",
          true);
}

/// The intrinsic, unlike a text, may not be moved into branches.
static void print(NamedArriveOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value threads =
      LLVM::ConstantOp::create(b, loc, b.getI32Type(), op.getThreads());
  LLVM::CallIntrinsicOp::create(
      b, loc, b.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
      ValueRange{op.getBarrier(), threads});
  op.erase();
}

/// "[$1, {$2, $3}]"
static std::string boxOf(AssemblyWriter &w, Value map, ValueRange coordinates) {
  std::string address = w.use(map);
  return "[" + address + ", " + w.use(coordinates) + "]";
}

static std::string tensorCopy(ValueRange coordinates) {
  return "cp.async.bulk.tensor." + std::to_string(coordinates.size()) + "d.";
}

static void print(TmaLoadOp op) {
  AssemblyWriter w(op);
  std::string to = w.use(op.getTo());
  std::string box = boxOf(w, op.getMap(), op.getCoordinates());
  std::string barrier = w.use(op.getBarrier()), modifiers, operands;
  if (op.getMulticast()) {
    modifiers += ".multicast::cluster";
    operands += ", " + w.use(op.getMulticast());
  }
  if (op.getCache()) {
    modifiers += ".L2::cache_hint";
    operands += ", " + w.use(op.getCache());
  }
  w.write(w.when(op.getPredicate()) + tensorCopy(op.getCoordinates()) +
              "shared::cluster.global.tile.mbarrier::complete_tx::bytes" +
              modifiers + " [" + to + "], " + box + ", [" + barrier + "]" +
              operands + ";",
          true);
}

static void print(TmaStoreOp op) {
  AssemblyWriter w(op);
  std::string box = boxOf(w, op.getMap(), op.getCoordinates());
  std::string from = w.use(op.getFrom()), modifiers, operands;
  if (op.getCache()) {
    modifiers = ".L2::cache_hint";
    operands = ", " + w.use(op.getCache());
  }
  w.write(w.when(op.getPredicate()) + tensorCopy(op.getCoordinates()) +
              "global.shared::cta.tile.bulk_group" + modifiers + " " + box +
              ", [" + from + "]" + operands + ";",
          true);
}

static void print(PrefetchTensormapOp op) {
  AssemblyWriter w(op);
  std::string map = w.use(op.getMap());
  w.write(w.when(op.getPredicate()) + "prefetch.tensormap [" + map + "];",
          true);
}

bool printAsync(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<MbarrierInitOp, MbarrierInvalOp, MbarrierArriveOp,
            MbarrierExpectTxOp, MbarrierWaitOp, NamedArriveOp, TmaLoadOp,
            TmaStoreOp, PrefetchTensormapOp>([](auto typed) {
        print(typed);
        return true;
      })
      .Default(false);
}

} // namespace nereid::nv
