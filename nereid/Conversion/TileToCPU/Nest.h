//===- Nest.h - One loop nest ----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a step of a plan as loops. The loop over chunks comes in up to four
// versions:
//
//   for (v = 0; v < F; v += lanes)       every mask that bounds v is known true
//   the same with stores past the cache   if the launch streams: from the first
//                                         line that begins in the row on
//   for (v = F; v < D; v += restLanes)   masks are vectors
//   for (v = D; v < end; v += restLanes) every mask that bounds v is known
//   false
//
// where F is the tile's extent, or what the masks leave of it. The last one is
// there where something is done for elements that are masked out, as in a sum.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_NEST_H
#define NEREID_CONVERSION_TILETOCPU_NEST_H

#include "nereid/Conversion/TileToCPU/ElementEmitter.h"
#include "nereid/Conversion/TileToCPU/Schedule.h"

#include <memory>

namespace nereid::tocpu {

/// Combines partial results of one tile.reduce or tile.scan.
class Combiner {
public:
  Combiner(LoopEmitter &kernel, mlir::Operation *op);

  /// Can the region run on vectors?
  bool hasVectorForm() const { return vectorForm; }
  /// Is there a value that combines with x to x? (One operand, one operation.)
  bool hasIdentity() const { return identity != nullptr; }
  unsigned size() const { return elements.size(); }

  /// Types of the partial results; f16 and bf16 sums are kept in f32.
  mlir::Type partialType(unsigned i) const;
  llvm::SmallVector<mlir::Value> initial(LaneOps ops, unsigned lanes) const;
  mlir::Value toPartial(LaneOps ops, mlir::Value value, unsigned i) const;
  mlir::Value fromPartial(LaneOps ops, mlir::Value value, unsigned i) const;
  llvm::SmallVector<mlir::Value> combine(LaneOps ops, mlir::ValueRange x,
                                         mlir::ValueRange y) const;
  /// All of the first `valid` lanes into one scalar each.
  llvm::SmallVector<mlir::Value> horizontal(LaneOps ops, mlir::ValueRange x,
                                            unsigned valid) const;
  /// Halves of the vectors combined until they have `lanes` lanes.
  llvm::SmallVector<mlir::Value> narrow(LaneOps ops, mlir::ValueRange x,
                                        unsigned lanes) const;

private:
  llvm::SmallVector<mlir::Value> run(LaneOps ops, mlir::Block &block,
                                     mlir::IRMapping &map) const;

  LoopEmitter &kernel;
  mlir::Operation *op;
  llvm::SmallVector<mlir::Type> elements;
  bool vectorForm = true;
  bool widened = false;
  mlir::TypedAttr identity;
};

/// How the elements of a block become words of scratch memory (Pack.cpp).
struct Packing {
  mlir::Type element; ///< that the values are converted to
  int vector = -1;    ///< the dimension that lanes lie along
  unsigned lanes = 1; ///< of one evaluation
  int rows = -1;      ///< the dimension that is taken `count` rows at a time
  int64_t count = 1;  ///< divides the extent of that
  unsigned group = 1; ///< neighbours along `vector` that are one word
  unsigned interleave = 1; ///< rows that are one word
  bool turns = false;      ///< words lie side by side along `rows`

  Schedule schedule(llvm::ArrayRef<int64_t> shape) const;
};

/// Turns blocks of `shape`, contiguous along `vector`, so that they are
/// contiguous along `rows`; nothing if the extents do not divide. A buffer for
/// it holds whole vectors along both.
std::optional<Packing> turning(const cpu::CpuTarget &target, mlir::Type element,
                               unsigned group, int rows, int vector,
                               llvm::ArrayRef<int64_t> shape);
mlir::Value flipSign(LaneOps ops, mlir::Value integer);

/// Positions of an axis inside of the chunks that are unrolled.
inline constexpr int64_t maxUnrolledAxis = 4;

class Nest {
public:
  Nest(LoopEmitter &kernel, Step &step, const Packing *packing = nullptr);
  void emit();

private:
  struct Accumulator {
    const Sink *sink;
    std::unique_ptr<Combiner> combiner;
    /// i1 "holds something yet", then the partial results. Without the flag
    /// where an identity is known.
    llvm::SmallVector<mlir::Value> values;
  };
  struct Bounds {
    mlir::Value upper; ///< i64: masks hold for all v below it; null: extent
    mlir::Value last;  ///< i64: no compare holds from it on; null as `upper`
    mlir::Value condition; ///< i1: masks that do not depend on v; null: true
    /// i1: no compare that made `upper` wraps; null: none may. Where it is
    /// false nothing is known of any v.
    mlir::Value isExact;
    /// i64: masks hold for all positions below it along the axis of a reduction
    /// inside of the chunks; null: none are known to.
    mlir::Value axisUpper;
    bool storesOnly = true; ///< nothing happens where the masks are false
    /// With the coordinates they are read at: one compare may bound the rows
    /// for one access and say nothing of the columns of another.
    llvm::SmallVector<std::pair<mlir::Value, unsigned>> conjuncts;
    /// Those of `conjuncts` that `upper` and `last` are of.
    llvm::SmallVector<std::pair<mlir::Value, unsigned>> compares;
    /// Of `axisUpper`.
    llvm::SmallVector<std::pair<mlir::Value, unsigned>> axisConjuncts;
    /// The same conjuncts as places in the order of the walk, which is the same
    /// for every version of the loops while coordinates are numbered again.
    llvm::DenseSet<unsigned> places, comparePlaces, axisPlaces;

    bool any() const { return upper || condition || axisUpper; }
  };
  /// How the loops came out, at each sink.
  void tell(bool scalarOnly);
  void prepareBuffers();
  void emitOuterLoops();
  void emitChunks();
  /// One version of the loop over chunks. `first`, `last`: static bounds where
  /// the values are null.
  struct Version {
    mlir::Value lower, upper;
    int64_t first = 0, last = 0;
    unsigned lanes = 1;
    bool assume = false;      ///< the bounds' compares hold
    bool isDead = false;      ///< none of them does
    bool masked = false;      ///< lanes may lie outside of the tile
    bool nontemporal = false; ///< stores pass the cache
    bool unaligned = false;   ///< chunks begin anywhere
    mlir::Value limit;        ///< i64, of `masked`; null: the tile's extent
    bool isStatic() const { return !lower && !upper; }
  };
  /// Where stores past the cache are possible.
  struct Stream {
    mlir::Value condition; ///< i1
    mlir::Value first;     ///< i64: the first element that begins a line
  };
  void emitVersion(const Version &version);
  mlir::Value startOfDead(const Version &remainder);
  mlir::Value emitStreamed(const Version &main, const Version &remainder,
                           mlir::Value assumed, const Stream &stream);
  void emitChunk(ElementEmitter &evaluator, const Version &version,
                 const Coord &chunk);
  void emitAxis(ElementEmitter &evaluator, const Version &version,
                const Coord &chunk);
  void emitAxisLoop(ElementEmitter &evaluator, const Version &version,
                    const Coord &chunk, mlir::Value lower, mlir::Value upper,
                    bool assumeAxis);
  void setAnchors(ElementEmitter &evaluator);
  void emitSinks(ElementEmitter &evaluator, unsigned coords, bool nontemporal);
  void emitPrefetches(ElementEmitter &evaluator, unsigned coords,
                      const Coord &chunk, bool nontemporal);
  void fetchNext(ElementEmitter &evaluator, unsigned coords, const Coord &chunk,
                 Fetch fetch);
  void fetchPieces(ElementEmitter &evaluator, unsigned coords,
                   const Coord &chunk);
  bool isPiece(mlir::Type tensor) const;
  bool isShortRow(mlir::Type tensor) const;
  bool readsBeside(tile::StoreAccess store) const;
  unsigned coordsOf(ElementEmitter &evaluator, const Coord &chunk,
                    const Coord &axis);
  void turnLoads();
  void emitPacked(ElementEmitter &evaluator, unsigned coords);
  unsigned packedRow(ElementEmitter &evaluator, unsigned coords, int64_t i);
  Bounds findBounds(ElementEmitter &probe, unsigned coords);
  void assumeBounds(ElementEmitter &evaluator, unsigned coords,
                    bool alongVector, bool alongAxis);
  void assumeNoneHolds(ElementEmitter &evaluator, unsigned coords);
  std::optional<Stream> canStream(ElementEmitter &probe, unsigned coords);
  bool startOfRow(LaneIndex &index) const;
  bool dropOrigin(LaneIndex &index, unsigned level) const;
  void walkMasks(ElementEmitter &evaluator, unsigned coords,
                 llvm::function_ref<void(mlir::Value, unsigned, bool)> visit);
  void addBound(ElementEmitter &probe, mlir::Value mask, unsigned coords,
                Bounds &bounds);
  void addCondition(ElementEmitter &probe, mlir::Value mask, unsigned coords,
                    Bounds &bounds);
  mlir::Value countBelow(ElementEmitter &probe, const LaneIndex &first,
                         const LaneIndex &limit,
                         mlir::arith::CmpIPredicate predicate, mlir::Value most,
                         unsigned width);
  mlir::Value staysInType(ElementEmitter &probe, const LaneIndex &first,
                          const LaneIndex &limit, int64_t size, unsigned width);

  // Reduce.cpp
  void createAccumulators();
  llvm::SmallVector<mlir::Value> carried() const;
  void setCarried(mlir::ValueRange values);
  void resetAccumulators(unsigned lanes);
  void accumulate(ElementEmitter &evaluator, Accumulator &accumulator,
                  unsigned coords);
  void narrowAccumulators(unsigned lanes);
  void finishAlongVector(unsigned valid);
  void finishAlongAxis(ElementEmitter &evaluator, const Coord &chunk);
  unsigned resultCoords(ElementEmitter &evaluator, unsigned coords);

  // Scan.cpp
  void scheduleScan(bool scalarOnly);
  Coord scanOrder(ElementEmitter &evaluator, const Coord &coord);
  void scanStep(ElementEmitter &evaluator, Accumulator &accumulator,
                unsigned coords);

  // Effects.cpp
  void atomicLanes(ElementEmitter &evaluator, mlir::Operation *op,
                   unsigned coords);
  void serviceLanes(ElementEmitter &evaluator, mlir::Operation *op,
                    unsigned coords);
  void checkLane(mlir::Operation *op, mlir::ValueRange scalars);
  mlir::Value linearIndex(ElementEmitter &evaluator, unsigned coords);

  LoopEmitter &kernel;
  Step &step;
  const Packing *packing; ///< null: elements are stored as they are
  Schedule schedule;
  llvm::SmallVector<Accumulator> accumulators;
  llvm::SmallVector<Coord> outerCoords; ///< by dimension
  unsigned depth = 0;                   ///< levels in front of the chunk loop
  llvm::SmallVector<mlir::OpBuilder::InsertPoint> anchors; ///< of outer levels
  bool pinned = false; ///< the last anchor stands before a branch around loops
  Bounds bounds;
  llvm::DenseMap<mlir::Value, Buffer> destinations; ///< Materialize, results
  llvm::SmallVector<Buffer> rootBuffers;            ///< by sink: Yield, Part
  /// Loads that were brought into the order of the vectors beforehand.
  llvm::SmallVector<std::pair<mlir::Value, Buffer>> turned;
};

/// Moves `pointer` to the next iteration of the innermost loop of the kernel
/// that changes it, which it returns; null if none does, or in a way that is
/// not known yet. Prefetch.cpp
mlir::scf::ForOp advance(LoopEmitter &kernel, ElementEmitter &evaluator,
                         LanePointer &pointer);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_NEST_H
