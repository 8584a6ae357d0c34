//===- Plan.h - What becomes a loop nest, and in which order ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan of one straight-line block: a list of steps, each a loop nest (with
// the sinks that run in it) or a single operation (a scalar access, a branch, a
// loop, a dot), and which tensors live in buffers. Everything else is
// evaluated inside the nests that ask for it.
//
// Memory model. Loads of a block may be evaluated later, or twice, as long as
// no write may have come between. Two accesses through different parameters
// touch, in the same program, either disjoint memory or (an in-place kernel)
// the same addresses element by element. Anything else without a barrier is a
// race between threads on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_PLAN_H
#define NEREID_CONVERSION_TILETOCPU_PLAN_H

#include "nereid/Conversion/TileToCPU/Regions.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <list>

namespace nereid::tocpu {

enum class SinkKind {
  Store,       ///< tile.store
  Atomic,      ///< tile.atomic_rmw, tile.atomic_cas
  Reduce,      ///< tile.reduce
  Scan,        ///< tile.scan
  Structured,  ///< an operation with a nest of its own in Forms.h
  Service,     ///< tile.assert, tile.check_bounds, tile.check_nan
  Materialize, ///< `value` is written to a buffer of its own
  Yield,       ///< `value` is written to the buffer of target `index`
  Part,        ///< operand `index` of a tile.join or tile.cat, into its buffer
};

/// Something that must run, once for each element of an iteration space.
struct Sink {
  SinkKind kind;
  mlir::Operation *op = nullptr; ///< null for Materialize and Yield
  mlir::Value value = {};        ///< Materialize, Yield, Part
  unsigned index = 0;
  /// Yield: the target is still read; write a second buffer and copy at last.
  bool throughCopy = false;
  /// Integers that the buffer holds wider are zero-extended.
  bool isUnsigned = false;
  /// The integers that the buffer holds have their sign bit flipped.
  bool flipsSign = false;
};

/// A nest's share of a load: from quarter `begin` of the vector dimension,
/// `count` quarters.
struct Fetch {
  tile::LoadAccess load;
  int begin, count;
  /// The nest is the only one that reads the load: worth it for a tile whose
  /// rows are short pieces of memory.
  bool isOwn = false;
};

struct Step {
  bool isNest = false;
  mlir::Operation *op = nullptr; ///< of a single operation
  llvm::SmallVector<int64_t> shape;
  int axis = -1;          ///< that reductions of the nest run along
  bool exclusive = false; ///< takes no further sinks
  llvm::SmallVector<Sink> sinks;
  llvm::SmallVector<mlir::Operation *> writes;
  bool touchesMemory = false;
  unsigned order = 0;
  /// Tensors whose buffers nothing reads after this step.
  llvm::SmallVector<mlir::Value> dead;
  /// Those of them that the step reads once, as an operand: their buffers may
  /// become its own.
  llvm::SmallVector<mlir::Value> handedOver;
  /// What the next program or iteration will load, fetched meanwhile.
  llvm::SmallVector<Fetch> fetchNext;
  /// Stores of the nest after this one, whose cache lines it fetches.
  llvm::SmallVector<tile::StoreAccess> fetchForStore;
};

/// The later of two steps; null is before all.
inline Step *later(Step *x, Step *y) {
  return !x ? y : !y ? x : x->order >= y->order ? x : y;
}

/// Where an operand of a block's terminator goes. `argument` is the block
/// argument that names the same buffer, if there is one.
struct YieldTarget {
  mlir::Value value;
  mlir::Value argument;
};

class Plan {
public:
  /// `targets`: the tensors that the terminator of `block` yields.
  Plan(mlir::Block *block, llvm::ArrayRef<YieldTarget> targets,
       const Regions &regions);

  std::list<Step> &steps() { return list; }
  /// The target whose buffer `value` is computed in directly, or -1.
  int directTarget(mlir::Value value) const {
    auto found = direct.find(value);
    return found == direct.end() ? -1 : static_cast<int>(found->second);
  }

private:
  struct Use {
    Step *step;
    bool identity; ///< read at the positions of the nest itself
    bool buffer;   ///< must be in a buffer before the step
    bool captured; ///< read somewhere inside a loop or branch
    bool repeated; ///< read several times a position (below a broadcast)
    bool shuffled; ///< read in another order (below a reshape)
    bool operator==(const Use &) const = default;
  };
  struct Write {
    Step *step;
    mlir::Operation *op;
  };
  /// How far from a write a load is evaluated.
  enum class Distance {
    SameElement, ///< in its nest, at the nest's own positions only
    SameNest,    ///< in its nest, also elsewhere: below a view, say
    OtherStep,
  };
  /// What is known of a value by its operands. Found in program order, so that
  /// no question walks back through the program.
  struct ValueFacts {
    Step *after = nullptr; ///< must run before the value can be evaluated
    bool loads = false;    ///< evaluating it reads the kernel's arrays
    bool memory = false;   ///< evaluating it reads anything from memory
    bool isDeep = false;   ///< ends a chain that is too long for one nest
    int cost = 1;
    unsigned depth = 0; ///< of the expression that evaluates it
  };

  // Sinks and their nests.
  void visit(mlir::Operation *op);
  void addOp(mlir::Operation *op);
  Step *addSink(Sink sink, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<mlir::Value> operands, int axis, bool writes,
                bool exclusive = false);
  bool passesLoad(mlir::Operation *write, const Step &step);
  bool canJoin(const Step &step, llvm::ArrayRef<int64_t> shape, int axis) const;
  void addYields(llvm::ArrayRef<YieldTarget> targets);
  void learn(mlir::Operation *op);
  bool isEvaluatedHere(mlir::Value value) const;
  Step *before(mlir::Value value) const;
  bool readsArrays(mlir::Value value) const;
  void reportSeparateLoop(const Sink &sink, const Step *after, bool exclusive);
  Step *append();
  void renumber();

  // Buffers.
  void demandOperands(mlir::Operation *op);
  void useBySink(const Sink &sink, Step *step);
  void addUse(mlir::Value value, const Use &use);
  void decide(mlir::Operation *op);
  void forward(mlir::Operation *op, llvm::ArrayRef<Use> wanted);
  /// Why `value` must be in a buffer; null if it need not.
  const char *whyMaterialize(mlir::Value value, llvm::ArrayRef<Use> wanted);
  void materialize(mlir::Value value, Step *limit, bool limitConflicts);
  void reportBuffer(mlir::Value value, const char *why);
  Step *nestFor(mlir::Value value, Step *before);
  bool crossing(mlir::Operation *load, llvm::ArrayRef<Use> wanted, Step *&limit,
                bool &sameNest);
  bool conflicts(tile::LoadAccess load, mlir::Operation *write,
                 Distance distance) const;
  int cost(mlir::Value value) const;
  bool touchesMemory(mlir::Value value) const;
  void settleYields(llvm::ArrayRef<YieldTarget> targets);
  bool onlyReadBefore(mlir::Value argument, Step *step) const;
  void findLastUses();
  void planPrefetches();
  void fetchWhileComputing(tile::LoadAccess load);
  int weight(const Step &step);

  mlir::Block *block;
  const Regions &regions;
  std::list<Step> list;
  /// The step that produces a scalar or a buffered tensor of this block.
  llvm::MapVector<mlir::Value, Step *> producer;
  llvm::DenseMap<mlir::Value, ValueFacts> facts;
  /// For a load: the last step that wrote memory when it was reached.
  llvm::MapVector<mlir::Operation *, Step *> lastWriteBefore;
  Step *lastWrite = nullptr;
  llvm::SmallVector<Write> allWrites;
  llvm::DenseMap<mlir::Operation *, Step *> stepOf;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Use, 2>> uses;
  llvm::DenseMap<mlir::Value, unsigned> direct;
};

/// Does `op` only rename positions of its one operand?
bool isView(mlir::Operation *op);
/// Does a reshape only add and drop dimensions of size 1?
bool isTrivialReshape(tile::ReshapeOp op);
inline bool isTensor(mlir::Type type) {
  return llvm::isa<mlir::RankedTensorType>(type);
}
inline bool isTensor(mlir::Value value) { return isTensor(value.getType()); }
/// Has no effect, makes scalars of scalars.
bool isPureScalar(mlir::Operation *op);

} // namespace nereid::tocpu

#endif // NEREID_CONVERSION_TILETOCPU_PLAN_H
