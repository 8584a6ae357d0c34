//===- PrintMemory.cpp - Assembly of loads, stores, copies, atomics -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM has no predicated access, and a branch around each would cost ten
// instructions. All are marked side-effecting, so that their order stays.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/Transforms/AssemblyWriter.h"
#include "nereid/Dialect/NV/Transforms/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nv {

/// ".v4.b32"
static std::string widthOf(TypeRange words, bool isByte) {
  std::string count =
      words.size() > 1 ? ".v" + std::to_string(words.size()) : std::string();
  unsigned bits = isByte ? 8 : words.front().getIntOrFloatBitWidth();
  return count + ".b" + std::to_string(bits);
}

/// ".cg.L1::evict_first"
static std::string hints(Cache cache, Eviction eviction) {
  std::string text;
  if (cache != Cache::Default) {
    text += "." + stringifyCache(cache).str();
  }
  if (eviction != Eviction::Normal) {
    text += ".L1::" + stringifyEviction(eviction).str();
  }
  return text;
}

/// ".relaxed.gpu", nothing for a weak access.
static std::string orderOf(Order order, std::optional<Scope> scope) {
  if (order == Order::Weak) {
    return {};
  }
  return "." + stringifyOrder(order).str() +
         (scope ? "." + stringifyScope(*scope).str() : std::string());
}

static std::string spaceOf(Space space) {
  return "." + stringifySpace(space).str();
}

/// Results of masked loads get their other value first, so they may share no
/// register with the address and the predicate.
static void print(LoadOp op) {
  AssemblyWriter w(op);
  std::string place = w.place(op.getAddress(), op.getOffset());
  std::string predicate = w.when(op.getPredicate()), text;
  if (op.getPredicate()) {
    w.clobberEarly();
    for (auto [i, word] : llvm::enumerate(op.getWords())) {
      text += "mov.b" + std::to_string(word.getType().getIntOrFloatBitWidth()) +
              " " + w.result(i) + ", " +
              (op.getOthers().empty() ? "0" : w.use(op.getOthers()[i])) +
              ";\n\t";
    }
  }
  text += predicate + "ld" + orderOf(op.getOrder(), op.getScope()) +
          spaceOf(op.getSpace()) + hints(op.getCache(), op.getEviction()) +
          widthOf(op.getWords().getTypes(), op.getByte()) + " " + w.results() +
          ", " + place + ";";
  w.write(text, true);
}

static void print(StoreOp op) {
  AssemblyWriter w(op);
  std::string place = w.place(op.getAddress(), op.getOffset());
  std::string words = w.use(op.getWords());
  w.write(w.when(op.getPredicate()) + "st" + spaceOf(op.getSpace()) +
              hints(op.getCache(), op.getEviction()) +
              widthOf(op.getWords().getTypes(), op.getByte()) + " " + place +
              ", " + words + ";",
          true);
}

/// Only pieces of 16 bytes may pass the first-level cache by.
static void print(CopyAsyncOp op) {
  AssemblyWriter w(op);
  std::string to = w.place(op.getTo(), op.getToOffset());
  std::string from = w.place(op.getFrom(), op.getFromOffset());
  std::string read = op.getRead() ? ", " + w.use(op.getRead()) : std::string();
  w.write(w.when(op.getPredicate()) + "cp.async." +
              (op.getBytes() == 16 ? "cg" : "ca") + ".shared.global " + to +
              ", " + from + ", " + std::to_string(op.getBytes()) + read + ";",
          true);
}

static void print(PrefetchBulkOp op) {
  AssemblyWriter w(op);
  std::string address = w.use(op.getAddress()), bytes = w.use(op.getBytes());
  w.write(w.when(op.getPredicate()) + "cp.async.bulk.prefetch.L2.global [" +
              address + "], " + bytes + ";",
          true);
}

static void print(CompareAndSwapOp op) {
  AssemblyWriter w(op);
  w.clobberEarly();
  std::string width = widthOf(op.getOld().getType(), false);
  std::string address = w.use(op.getAddress());
  std::string compare = w.use(op.getCompare()), value = w.use(op.getValue());
  w.write("mov" + width + " $0, " + compare + "; " + w.when(op.getPredicate()) +
              "atom" + orderOf(op.getOrder(), op.getScope()) + ".global.cas" +
              width + " $0, [" + address + "], " + compare + ", " + value + ";",
          true);
}

/// ".add.noftz.v2.f16x2"
static std::string updateOf(AtomicOp op) {
  unsigned bits = op.getElement().getIntOrFloatBitWidth();
  std::string width = std::to_string(bits);
  switch (op.getUpdate()) {
  case Update::FAdd: {
    bool isPair =
        op.getValues().front().getType().getIntOrFloatBitWidth() > bits;
    std::string type = (op.getElement().isBF16() ? "bf16" : "f" + width) +
                       (isPair ? "x2" : "");
    size_t words = op.getValues().size();
    return std::string(".add") + (bits == 16 ? ".noftz" : "") +
           (words > 1 ? ".v" + std::to_string(words) : std::string()) + "." +
           type;
  }
  case Update::Add:
    return ".add.u" + width;
  case Update::And:
  case Update::Or:
  case Update::Xor:
    return "." + stringifyUpdate(op.getUpdate()).str() + ".b" + width;
  case Update::Exchange:
    return ".exch.b" + width;
  case Update::Max:
  case Update::Min:
    return "." + stringifyUpdate(op.getUpdate()).str() + ".s" + width;
  case Update::UMax:
    return ".max.u" + width;
  case Update::UMin:
    return ".min.u" + width;
  }
  llvm_unreachable("all updates are handled");
}

/// `red` knows no acquiring order and no exchange; `atom` then returns to
/// registers that nothing reads.
static void print(AtomicOp op) {
  AssemblyWriter w(op);
  size_t words = op.getValues().size();
  unsigned bits = op.getValues().front().getType().getIntOrFloatBitWidth();
  bool isReduction =
      op.getOld().empty() && op.getUpdate() != Update::Exchange &&
      (op.getOrder() == Order::Relaxed || op.getOrder() == Order::Release);
  std::string place = w.place(op.getAddress(), op.getOffset());
  std::string values = w.use(op.getValues());
  if (words == 1) {
    values = values.substr(1, values.size() - 2); // without braces
  }
  std::string predicate = w.when(op.getPredicate()), text, results;
  std::string registers = "b" + std::to_string(bits);
  if (!op.getOld().empty()) {
    results = words == 1 ? w.result(0) : w.results();
    if (op.getPredicate()) {
      w.clobberEarly();
      for (size_t i = 0; i < words; ++i) {
        text += "mov." + registers + " " + w.result(i) + ", 0;\n\t";
      }
    }
  } else if (!isReduction) {
    results = words == 1 ? "t0" : words == 2 ? "{t0, t1}" : "{t0, t1, t2, t3}";
    text += "{\n\t.reg ." + registers + " t<4>;\n\t";
  }
  text += predicate + (isReduction ? "red" : "atom") +
          orderOf(op.getOrder(), op.getScope()) + ".global" + updateOf(op) +
          " " + (results.empty() ? "" : results + ", ") + place + ", " +
          values + ";";
  if (op.getOld().empty() && !isReduction) {
    text += "\n\t}";
  }
  if (words > 1) {
    w.mark(ptxVersionAttr, Builder(op.getContext()).getI32IntegerAttr(81));
  }
  w.write(text, true);
}

static void print(FenceOp op) {
  AssemblyWriter w(op);
  w.write("fence.acq_rel." + stringifyScope(op.getScope()).str() + ";", true);
}

static void print(CountSharedOp op) {
  AssemblyWriter w(op);
  std::string address = w.use(op.getAddress());
  w.write(w.when(op.getPredicate()) + "red.shared.add.u32 [" + address + "], " +
              std::to_string(op.getBy()) + ";",
          true);
}

bool printMemory(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<LoadOp, StoreOp, CopyAsyncOp, PrefetchBulkOp, CompareAndSwapOp,
            AtomicOp, FenceOp, CountSharedOp>([](auto typed) {
        print(typed);
        return true;
      })
      .Default(false);
}

} // namespace nereid::nv
