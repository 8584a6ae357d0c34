//===- Prefetch.cpp - Memory is fetched while something is computed -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that goes over its row several times waits for memory in the first
// pass (loads) and the last (stores), and computes in between with memory idle.
// So the nests after the first pass fetch the row of the next program, and the
// nest before a store the lines that will be stored to; stores past the cache
// gain nothing (docs/decisions/Host.md).
//
// A pass over a tile of several rows jumps from row to row before the
// processor's own prefetcher has followed one: each row's next piece, the next
// iteration's, is asked for where this one is used.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::tocpu {

/// Rows of this size, several at a time, stay in a second-level cache.
static constexpr int64_t maxFetchBytes = 256 << 10;
static constexpr int64_t lineBytes = 64;
/// How far in front of a stream of stores its lines are asked for
/// (docs/decisions/Host.md).
static constexpr int64_t storeDistance = 2048;
/// Elements of a row that is worth asking ahead in.
static constexpr int64_t longRow = 8192;
/// A row of a tile that ends before the processor's prefetcher is far ahead: it
/// follows accesses within a page, and begins again in the next.
static constexpr int64_t shortRowBytes = 8192;

/// Values in the computation of an address, or of what is stored, that are
/// looked at.
static constexpr unsigned maxOrigins = 256;

static bool isFetched(Type tensor) {
  return tile::getBytes(tensor) <= maxFetchBytes;
}

/// What a nest computes an element, in cheap operations: as cost(), now that
/// buffers are known, and with the rounding of narrow floats.
int Plan::weight(const Step &step) {
  DenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  for (const Sink &sink : step.sinks) {
    work.push_back(sink.value ? sink.value.getDefiningOp() : sink.op);
  }
  int total = 0;
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!op || !seen.insert(op).second) {
      continue;
    }
    if (hasLaneForm(op)) {
      Type element = tile::getElement(op->getResult(0).getType());
      bool rounds =
          isa<FloatType>(element) && tile::getElementBytes(element) < 4;
      total += isExpensive(op) ? 12 : rounds ? 6 : 1;
    }
    for (Value operand : op->getOperands()) {
      Type element = tile::getElement(operand.getType());
      if (isTensor(operand) && operand.getParentBlock() == block &&
          !producer.count(operand) && !isa<tile::PtrType>(element)) {
        work.push_back(operand.getDefiningOp());
      }
    }
  }
  return total + 1;
}

/// The nests after the first that loads share the fetch by their weights, so
/// that memory is never idle and never asked for too much at once.
void Plan::fetchWhileComputing(tile::LoadAccess load) {
  ArrayRef<int64_t> shape = tile::getShape(load.getResult().getType());
  SmallPtrSet<Step *, 4> loading;
  for (const Use &use : uses.lookup(load.getResult())) {
    if (use.step->isNest && use.identity && !use.captured) {
      loading.insert(use.step);
    }
  }
  if (loading.size() < 2) {
    if (!loading.empty()) {
      (*loading.begin())->fetchNext.push_back({load, 0, 4, /*isOwn=*/true});
    }
    reportDecision(load, [] {
      return Decision{"row", "each program prefetches its own",
                      "prefetched by the program before",
                      "one pass reads it, which keeps the memory busy itself",
                      ""};
    });
    return;
  }
  reportDecision(load, [] {
    return Decision{"row", "the program before prefetches it while it computes",
                    "", "several passes read it", ""};
  });
  SmallVector<std::pair<Step *, int>> nests; // with their weights
  int total = 0;
  bool begun = false;
  for (Step &step : list) {
    if (begun && step.isNest && !step.exclusive &&
        ArrayRef(step.shape) == shape) {
      nests.push_back({&step, weight(step)});
      total += nests.back().second;
    }
    begun |= loading.contains(&step);
  }
  int begin = 0;
  for (auto [i, nest] : llvm::enumerate(nests)) {
    auto [step, share] = nest;
    int others = static_cast<int>(nests.size() - i) - 1, left = 4 - begin;
    int count = (4 * share + total / 2) / total;
    count =
        others == 0 ? left : std::clamp(count, 1, std::max(left - others, 1));
    if (left > 0) {
      step->fetchNext.push_back({load, begin, std::min(count, left)});
      begin += count;
    }
  }
}

void Plan::planPrefetches() {
  for (Operation *op : llvm::make_first_range(lastWriteBefore)) {
    auto load = cast<tile::LoadAccess>(op);
    if (isFetched(load.getResult().getType())) {
      fetchWhileComputing(load);
    }
  }
  Step *previous = nullptr;
  for (Step &step : list) {
    if (!step.isNest) {
      continue;
    }
    for (const Sink &sink : step.sinks) {
      auto store = dyn_cast_or_null<tile::StoreAccess>(sink.op);
      if (!store || !previous || previous->shape != step.shape ||
          previous->exclusive || !isFetched(store.getValue().getType())) {
        continue;
      }
      Step *known = before(store.getPtr());
      if (!known || known->order < previous->order) {
        previous->fetchForStore.push_back(store);
      }
    }
    previous = &step;
  }
}

/// Operations in a chain that an address of the next iteration is worth.
static constexpr unsigned maxAddressDepth = 64;

namespace {

/// What scalars will be in the next iteration of a loop of the kernel, or in
/// the next program.
class NextIteration {
public:
  NextIteration(LoopEmitter &kernel, OpBuilder &b, scf::ForOp loop)
      : kernel(kernel), b(b), loop(loop) {
    for (auto [id, next] : llvm::zip(kernel.programId, kernel.nextProgramId)) {
      if (cast<BlockArgument>(id).getOwner() == loop.getBody()) {
        map[id] = next;
      }
    }
    if (map.empty()) {
      map[loop.getInductionVar()] = arith::AddIOp::create(
          b, kernel.loc, loop.getInductionVar(), loop.getStep());
    }
  }

  /// Null if it is not known yet, or if it takes too long a computation to
  /// know; `value` itself if it does not change.
  Value of(Value value, unsigned depth = 0) {
    if (Value known = map.lookup(value)) {
      return known;
    }
    if (!loop->isAncestor(value.getParentBlock()->getParentOp())) {
      return value;
    }
    Operation *op = value.getDefiningOp();
    if (!op) {
      Value next = kernel.nextCarried(loop, cast<BlockArgument>(value));
      return next ? map[value] = next : nullptr;
    }
    if (depth > maxAddressDepth) {
      return nullptr;
    }
    IRMapping operands;
    bool changes = false;
    for (Value operand : op->getOperands()) {
      Value next = of(operand, depth + 1);
      if (!next) {
        return nullptr;
      }
      changes |= next != operand;
      operands.map(operand, next);
    }
    if (changes && (op->getNumRegions() || !isMemoryEffectFree(op))) {
      return nullptr;
    }
    Value next = changes
                     ? b.clone(*op, operands)
                           ->getResult(cast<OpResult>(value).getResultNumber())
                     : value;
    return map[value] = next;
  }

private:
  LoopEmitter &kernel;
  OpBuilder &b;
  scf::ForOp loop;
  llvm::DenseMap<Value, Value> map;
};

} // namespace

/// What a scalar that `loop` carries will be in its next iteration, where that
/// follows from what is known in this one; else null.
Value LoopEmitter::nextCarried(scf::ForOp loop, BlockArgument carried) {
  scf::ForOp source = sources.lookup(loop);
  if (!source || carried.getOwner() != loop.getBody() ||
      top.getBlock() != loop.getBody()) {
    return nullptr;
  }
  Value yielded;
  for (auto [argument, value] :
       llvm::zip(source.getRegionIterArgs(), source.getYieldedValues())) {
    if (!isTensor(argument) && scalars.lookup(argument) == carried) {
      yielded = value;
    }
  }
  SmallVector<Value> work = {yielded};
  for (unsigned count = 0; !work.empty(); ++count) {
    Value value = work.pop_back_val();
    if (scalars.count(value)) {
      continue;
    }
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!op || !isPureScalar(op) || count > maxAddressDepth) {
      return nullptr;
    }
    llvm::append_range(work, op->getOperands());
  }
  return scalar(yielded);
}

scf::ForOp advance(LoopEmitter &kernel, ElementEmitter &evaluator,
                   LanePointer &pointer) {
  if (!pointer.base || pointer.index.unwrapped) {
    return nullptr;
  }
  Operation *parent = kernel.getTop().getBlock()->getParentOp();
  for (; parent && !isa<func::FuncOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop) {
      continue;
    }
    LaneOps ops = evaluator.at(0);
    NextIteration next(kernel, ops.b, loop);
    LanePointer moved = pointer;
    moved.base = next.of(pointer.base);
    bool known = moved.base != nullptr, changes = moved.base != pointer.base;
    for (auto &[level, term] : moved.index.terms) {
      if (level == 0 && known) {
        Value value = next.of(term);
        known = value != nullptr;
        changes |= value != term;
        term = value;
      }
    }
    if (!known) {
      return nullptr;
    }
    if (changes) {
      pointer = moved;
      return loop;
    }
  }
  return nullptr;
}

/// Fetches `bytes` from `distance` after `address` on.
static void fetchLines(LaneOps ops, Value address, int64_t distance,
                       int64_t bytes, bool isWrite) {
  for (int64_t offset = 0; offset < bytes; offset += lineBytes) {
    LLVM::Prefetch::create(ops.b, ops.loc,
                           ops.byteOffset(address, distance + offset),
                           isWrite ? 1 : 0, /*hint=*/3, /*cache=*/1);
  }
}

/// At chunk v of the row: (begin * extent + count * v) / 4 of the next row, and
/// as many lines as that moves on from chunk to chunk.
void Nest::fetchNext(ElementEmitter &evaluator, unsigned coords,
                     const Coord &chunk, Fetch fetch) {
  LanePointer from = evaluator.pointer(fetch.load.getPtr(), coords);
  int64_t bytes =
      tile::getElementBytes(tile::getElement(fetch.load.getResult().getType()));
  unsigned level;
  if (!chunk.base || !advance(kernel, evaluator, from)) {
    return;
  }
  Value address = evaluator.contiguousAddress(from, bytes, &level);
  if (!address) {
    return;
  }
  LaneOps ops = evaluator.at(evaluator.innermost());
  if (fetch.count < 4) {
    Value behind = ops.mul(chunk.base, ops.i64(bytes * (fetch.count - 4)));
    behind = arith::ShRSIOp::create(ops.b, ops.loc, behind, ops.i64(2));
    behind =
        ops.add(behind, ops.i64(fetch.begin * bytes * schedule.extent / 4));
    address =
        LLVM::GEPOp::create(ops.b, ops.loc, address.getType(),
                            ops.b.getI8Type(), address, ValueRange{behind});
  }
  fetchLines(ops, address, 0, evaluator.lanes * bytes * fetch.count / 4, false);
}

/// Fetches the lines of a store, `distance` bytes in front of the chunk, or
/// those of the next iteration of a loop of the kernel.
static bool fetchForStore(ElementEmitter &evaluator, tile::StoreAccess store,
                          unsigned coords, int64_t distance,
                          LoopEmitter *nextOf = nullptr) {
  LanePointer to = evaluator.pointer(store.getPtr(), coords);
  if (nextOf && !advance(*nextOf, evaluator, to)) {
    return false;
  }
  int64_t bytes =
      tile::getElementBytes(tile::getElement(store.getValue().getType()));
  unsigned level;
  Value address = evaluator.contiguousAddress(to, bytes, &level);
  if (!address) {
    return false;
  }
  fetchLines(evaluator.at(evaluator.innermost()), address, distance,
             evaluator.lanes * bytes, true);
  return true;
}

/// Is a row of the tile a piece that the processor's prefetcher is not done
/// with before the next row begins?
bool Nest::isPiece(Type tensor) const {
  return schedule.extent * tile::getElementBytes(tile::getElement(tensor)) <=
         shortRowBytes;
}

/// Is the chunk loop a piece of one of several rows of a tile?
bool Nest::isShortRow(Type tensor) const {
  return depth > 0 && isPiece(tensor);
}

/// Of a reduction along the rows inside of each chunk.
void Nest::fetchPieces(ElementEmitter &evaluator, unsigned coords,
                       const Coord &chunk) {
  for (Fetch fetch : step.fetchNext) {
    if (fetch.isOwn && isPiece(fetch.load.getResult().getType())) {
      fetchNext(evaluator, coords, chunk, fetch);
    }
  }
  evaluator.at(evaluator.innermost());
}

/// The programs' numbers and the loops' counters that an address depends on;
/// nothing where that is not known.
static SmallVector<Value> origins(Value address) {
  SetVector<Value> seen;
  SmallVector<Value> found;
  seen.insert(address);
  for (unsigned i = 0; i < seen.size(); ++i) {
    Value value = seen[i];
    Operation *op = value.getDefiningOp();
    if (seen.size() > maxOrigins) {
      return {};
    }
    if (isa_and_nonnull<tile::ProgramIdOp>(op) ||
        (!op && !isa<func::FuncOp>(value.getParentBlock()->getParentOp()))) {
      found.push_back(value);
    } else if (op) {
      seen.insert(op->operand_begin(), op->operand_end());
    }
  }
  return found;
}

/// Does the nest read an array as it goes, beside writing one? A load that
/// depends on less than the store's address reads the same again and again.
bool Nest::readsBeside(tile::StoreAccess store) const {
  SmallVector<Value> written = origins(store.getPtr());
  SetVector<Value> seen;
  seen.insert(store.getValue());
  for (unsigned i = 0; i < seen.size() && i < maxOrigins; ++i) {
    Value value = seen[i];
    Operation *op = value.getDefiningOp();
    if (!op || kernel.buffer(value)) {
      continue;
    }
    if (auto load = dyn_cast<tile::LoadAccess>(op)) {
      SmallVector<Value> read = origins(load.getPtr());
      if (written.empty() || read.empty() ||
          llvm::all_of(written, [&](Value origin) {
            return llvm::is_contained(read, origin);
          })) {
        return true;
      }
    } else {
      seen.insert(op->operand_begin(), op->operand_end());
    }
  }
  return seen.size() > maxOrigins;
}

void Nest::emitPrefetches(ElementEmitter &evaluator, unsigned coords,
                          const Coord &chunk, bool nontemporal) {
  // What only adds up is followed by a pass over the sums, in which memory
  // would be idle, and then by another row.
  bool pauses = llvm::all_of(step.sinks, [](const Sink &sink) {
    return sink.kind == SinkKind::Yield || sink.kind == SinkKind::Reduce;
  });
  for (Fetch fetch : step.fetchNext) {
    Type type = fetch.load.getResult().getType();
    bool isShort = isShortRow(type) || (pauses && isPiece(type));
    if (!fetch.isOwn || isShort) {
      fetchNext(evaluator, coords, chunk, fetch);
    }
  }
  for (tile::StoreAccess store : step.fetchForStore) {
    if (fetchForStore(evaluator, store, coords, 0)) {
      kernel.fetched.insert(store);
    }
  }
  // After a long row are its own next lines; after a short row of a tile the
  // next iteration's, where the tile leaves room for them in the caches.
  bool isLong = depth == 0 || schedule.extent >= longRow;
  for (const Sink &sink : step.sinks) {
    auto store = dyn_cast_or_null<tile::StoreAccess>(sink.op);
    if (!store || nontemporal || kernel.fetched.contains(store)) {
      continue;
    }
    if (isLong && readsBeside(store)) {
      fetchForStore(evaluator, store, coords, storeDistance);
    } else if (!isLong && chunk.base &&
               isShortRow(store.getValue().getType()) &&
               isFetched(store.getValue().getType())) {
      fetchForStore(evaluator, store, coords, 0, &kernel);
    }
  }
  evaluator.at(evaluator.innermost());
}

} // namespace nereid::tocpu
