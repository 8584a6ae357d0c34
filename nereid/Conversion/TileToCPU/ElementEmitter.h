//===- ElementEmitter.h - Values of tensors at positions of a nest --*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `evaluate(tensor, coordinates)` emits what computes the elements of a tensor
// at L positions at once. Coordinates are scalars, or a scalar base plus a
// constant offset a lane (a pattern), or arbitrary vectors:
//
//   dimension                   coordinate
//   a loop around               base = loop variable
//   vectorised, contiguous      base = start of the chunk, pattern 0 1 2 3 ...
//   ... of size 2, collapsed    pattern 0 1 0 1 ...
//
// Every value is emitted at the outermost loop level that determines it, so
// what does not vary in a loop stands before it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_ELEMENTEMITTER_H
#define NEREID_CONVERSION_TILETOCPU_ELEMENTEMITTER_H

#include "nereid/Conversion/TileToCPU/Emitter.h"

#include <deque>

namespace nereid::tocpu {

/// One offset a lane. Interned: equal patterns have equal addresses.
using Pattern = const llvm::SmallVector<int64_t, 0> *;

/// Of one lane in memory.
int64_t bytesOf(mlir::Type type);

/// Where the lanes are along one dimension.
struct Coord {
  mlir::Value base;          ///< i64, or null for 0
  int64_t offset = 0;        ///< added to base
  Pattern pattern = nullptr; ///< added a lane; null: the same for all lanes
  mlir::Value vector;        ///< vector<L x i32>, in place of all the above
  int64_t divisor = 1;       ///< base is a multiple of it
  unsigned level = 0;        ///< of base and vector

  bool isUniform() const { return !pattern && !vector; }
  bool isConstant() const { return isUniform() && !base; }
  bool operator==(const Coord &) const = default;
};
using Coords = llvm::SmallVector<Coord, 4>;

/// A value of all lanes: a scalar if it is the same in all.
struct Lane {
  mlir::Value value;
  unsigned level = 0; ///< the loop level where it is available
  bool isUniform() const { return !isVector(value); }
};

/// An integer of each lane: terms + constant + coefficient * pattern, or
/// terms + constant + vector.
struct LaneIndex {
  llvm::SmallVector<std::pair<unsigned, mlir::Value>, 3>
      terms; ///< i64, by level
  int64_t constant = 0;
  Pattern pattern = nullptr;
  mlir::Value coefficient; ///< i64; null: 1
  unsigned coefficientLevel = 0;
  mlir::Value vector; ///< vector<L x i64>
  unsigned vectorLevel = 0;
  /// `x % n` over a run: the lanes are contiguous from `wrappedBase` where
  /// `unwrapped` holds (and are what the fields above say in any case).
  mlir::Value unwrapped, wrappedBase;
  unsigned wrapLevel = 0;

  bool isUniform() const { return !pattern && !vector; }
};

/// An address of each lane: base + index * bytes.
struct LanePointer {
  mlir::Value base; ///< !llvm.ptr; null: the index is an address in bytes
  LaneIndex index;
  int64_t bytes = 1;
  unsigned minLevel = 0; ///< a load must not stand outside of this level
};

/// Of an i1 constant, or a vector of one: all true or not; nothing of others.
std::optional<bool> knownMask(mlir::Value mask);

class ElementEmitter {
public:
  ElementEmitter(LoopEmitter &kernel, unsigned lanes)
      : kernel(kernel), lanes(lanes) {}

  /// Levels count from 0, in front of the nest.
  void setAnchor(unsigned level, mlir::OpBuilder::InsertPoint point);
  /// `op`, the last of its block, is about to be filled: what belongs to levels
  /// of that block goes before it, until `leave`.
  void enter(mlir::Operation *op);
  void leave(mlir::Operation *op);
  /// The builder, standing at the end of `level`.
  LaneOps at(unsigned level);
  unsigned innermost() const { return anchors.size() - 1; }

  Pattern intern(llvm::ArrayRef<int64_t> offsets);
  Pattern iota(int64_t step = 1);
  unsigned intern(const Coords &coords);
  const Coords &coordsOf(unsigned id) const { return coordSets[id]; }

  Lane evaluate(mlir::Value tile, unsigned coords);
  /// The lanes as vectors at the innermost level.
  mlir::Value vectorOf(Lane lane);

  Lane load(tile::LoadAccess op, unsigned coords);
  Lane loadBuffer(const Buffer &buffer, unsigned coords);
  void storeBuffer(const Buffer &buffer, unsigned coords, Lane value,
                   unsigned level);
  LanePointer pointer(mlir::Value tile, unsigned coords);
  void store(const LanePointer &to, mlir::Type element, mlir::Value value,
             Lane mask, bool nontemporal);
  void reportStore(tile::StoreAccess op, const LanePointer &to,
                   mlir::Type element, bool isMasked);
  /// Mask of `mask` (may be null) and the active lanes; null if all are on.
  Lane activeMask(mlir::Value mask, unsigned coords);
  /// Address of the first lane, if the lanes are contiguous; else null.
  mlir::Value contiguousAddress(const LanePointer &pointer,
                                int64_t elementBytes, unsigned *level);

  /// `body(lane number, scalars)` for each lane where `mask` holds.
  void
  forEachLane(llvm::ArrayRef<mlir::Value> vectors, mlir::Value mask,
              llvm::function_ref<void(mlir::Value, mlir::ValueRange)> body);

  // Coordinates.
  Coord scaled(const Coord &coord, int64_t factor);
  Coord sum(const Coord &x, const Coord &y);
  std::pair<Coord, Coord> divMod(const Coord &coord, int64_t by);
  Coords reshaped(const Coords &coords, llvm::ArrayRef<int64_t> from,
                  llvm::ArrayRef<int64_t> to);
  mlir::Value coordLanes(const Coord &coord, mlir::Type element);

  LoopEmitter &kernel;
  unsigned lanes;
  /// Compares that hold in every lane of this version of the loops, or in none.
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, bool> assumed;
  /// Asks in front of the loops what bounds them: what is read along the vector
  /// is neither needed nor known to exist there.
  bool isProbe = false;
  /// Whole vectors may be masked out. An access without any lane is skipped by
  /// a branch: the processor's own suppression of the fault costs as much as
  /// hundreds of loads where nothing is mapped.
  bool skipsDead = false;
  /// Lanes inside the tile; null: all.
  mlir::Value laneMask;

  /// Coordinates in a view's source of the position `coords` of a result.
  unsigned mapped(mlir::Operation *view, unsigned coords, unsigned result);
  /// An integer tensor as an affine form of the lanes.
  LaneIndex index(mlir::Value tile, unsigned coords);
  /// May `index` of a tile be another number than its element, because sums in
  /// the element's type wrap? Inside: in front of an extension, so that more
  /// than the number's upper bits differ.
  struct Wrapping {
    bool isPossible = false, isInside = false;
  };
  Wrapping wrappingOf(mlir::Value tile);
  /// The part of an index that all lanes share.
  mlir::Value sumTerms(const LaneIndex &x, unsigned *level);
  Lane address(const LanePointer &pointer);

private:
  Lane compute(mlir::Value tile, unsigned coords);
  Lane combineMasks(Lane x, Lane y);
  Lane dense(mlir::DenseElementsAttr attr, mlir::RankedTensorType type,
             unsigned coords);

  // Address.cpp
  LaneIndex computeIndex(mlir::Value tile, unsigned coords);
  LaneIndex indexOfCoord(const Coord &coord, int64_t scale);
  LaneIndex uniformIndex(mlir::Value scalar, unsigned level);
  LaneIndex addIndex(const LaneIndex &x, const LaneIndex &y);
  LaneIndex scaleIndex(const LaneIndex &x, const LaneIndex &by, bool &exact);
  LaneIndex scaleIndex(LaneIndex x, int64_t by);
  LaneIndex wrap(const LaneIndex &x, const LaneIndex &by, mlir::Value tile,
                 unsigned coords);
  LaneIndex opaqueIndex(mlir::Value tile, unsigned coords);
  mlir::Value patternVector(const LaneIndex &x, unsigned *level);
  LaneIndex bufferIndex(const Buffer &buffer, unsigned coords);
  int direction(const LanePointer &pointer, int64_t elementBytes);
  mlir::Value scalarAddress(const LanePointer &pointer, unsigned *level);

  // Memory.cpp
  /// How lanes are read, from fast to slow.
  enum class LoadForm {
    Uniform,
    Run,
    Reversed,
    Window,
    Wrapped,
    Gather,
    Lanes
  };
  LoadForm formOf(const LanePointer &from, mlir::Type type, bool isMasked);
  enum class StoreForm { Run, Scatter, Lanes };
  StoreForm storeFormOf(const LanePointer &to, mlir::Type type, bool isMasked);
  void reportLoad(tile::LoadAccess op, const LanePointer &from, bool isMasked);
  Lane loadFrom(const LanePointer &from, mlir::Type element, Lane mask,
                Lane other);
  Lane loadUniform(const LanePointer &from, mlir::Type type, Lane mask,
                   Lane other);
  Lane skippedIfDead(Lane mask, mlir::Value on, mlir::Value rest,
                     unsigned level,
                     llvm::function_ref<mlir::Value(mlir::OpBuilder &)> load);
  Lane loadRun(Lane address, mlir::Type type, Lane mask, Lane other,
               bool reversed);
  Lane loadMaskedRun(Lane address, mlir::Type type, Lane mask, Lane other,
                     bool reversed);
  void storeMaskedRun(const LanePointer &to, mlir::Value value, mlir::Value on);
  Lane loadWindow(const LanePointer &from, mlir::Type type);
  Lane loadGather(const LanePointer &from, mlir::Type type, Lane mask,
                  Lane other);
  Lane loadLaneByLane(Lane addresses, mlir::Type type, Lane mask, Lane other);
  Lane loadWrapped(const LanePointer &from, mlir::Type type, Lane mask,
                   Lane other);
  mlir::Value otherVector(mlir::Type type, Lane other, unsigned level);
  Lane addressVector(const LanePointer &pointer);
  Lane runAddresses(Lane first, int64_t step);
  bool hasMaskedRun(mlir::Type type) const;
  mlir::Value opaqueMask(mlir::Value mask, mlir::Type type, unsigned level);
  bool hasGather(mlir::Type type) const;
  Lane fromMemory(Lane lane, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, unsigned level);

  std::deque<llvm::SmallVector<int64_t, 0>> patterns;
  std::vector<Coords> coordSets;
  llvm::SmallVector<mlir::OpBuilder::InsertPoint> anchors;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, Lane> memo;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, LaneIndex> indices;
  llvm::DenseMap<mlir::Value, Wrapping> wrappings;
};

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_ELEMENTEMITTER_H
