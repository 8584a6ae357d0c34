//===- SharedAllocation.cpp - Places in shared memory ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/SharedAllocation.h"

#include "nereid/Analysis/Hazards.h"

using namespace mlir;

namespace nereid {

/// The lowest place that meets nothing that is taken.
static Span lowestPlace(unsigned bytes, unsigned alignment,
                        SmallVector<Span> taken) {
  llvm::sort(taken, [](Span a, Span b) { return a.begin < b.begin; });
  unsigned at = 0;
  for (Span other : taken) {
    if (at + bytes <= other.begin) {
      break;
    }
    at = llvm::alignTo(std::max(at, other.end), alignment);
  }
  return {at, at + bytes};
}

//===----------------------------------------------------------------------===//
// Buffers, and what lives beside them
//===----------------------------------------------------------------------===//

namespace {

/// Goes over operations in program order with the buffers that live.
class LiveBuffers {
public:
  explicit LiveBuffers(ArrayRef<Span> taken) {
    for (Span span : taken) {
      living.push_back({nullptr, span});
    }
  }
  virtual ~LiveBuffers() = default;
  void walk(Operation &op);

protected:
  virtual void reached(Operation &op) = 0;
  /// A buffer lives from now on.
  virtual void placed(tilegpu::AllocOp op, Span at) {}
  SmallVector<Span> spans() const {
    return llvm::map_to_vector(living,
                               [](auto &entry) { return entry.second; });
  }

private:
  SmallVector<std::pair<Operation *, Span>> living;
};

} // namespace

void LiveBuffers::walk(Operation &op) {
  reached(op);
  if (auto alloc = dyn_cast<tilegpu::AllocOp>(op)) {
    Span at = lowestPlace(alloc.getType().getBytes(),
                          tilegpu::swizzlePeriodBytes, spans());
    living.push_back({&op, at});
    placed(alloc, at);
  } else if (auto free = dyn_cast<tilegpu::FreeOp>(op)) {
    llvm::erase_if(living, [&](auto &entry) {
      return entry.first == free.getBuffer().getDefiningOp();
    });
  }
  for (Region &region : op.getRegions()) {
    for (Block &block : region) {
      for (Operation &inner : block) {
        walk(inner);
      }
    }
  }
}

DenseMap<scf::ForOp, SmallVector<Span>> buffersAtLoops(func::FuncOp kernel) {
  struct AtLoops : LiveBuffers {
    AtLoops() : LiveBuffers({}) {}
    void reached(Operation &op) override {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        found[loop] = spans();
      }
    }
    DenseMap<scf::ForOp, SmallVector<Span>> found;
  };
  AtLoops loops;
  loops.walk(*kernel);
  return std::move(loops.found);
}

/// Places for the pieces of one trip after the other, beside `living`.
static void placePieces(ArrayRef<ScratchPiece> pieces, ArrayRef<Span> living,
                        llvm::function_ref<void(Span)> place) {
  SmallVector<Span> taken(living);
  unsigned trip = 0;
  for (const ScratchPiece &piece : pieces) {
    if (piece.trip != trip) {
      taken.truncate(living.size());
      trip = piece.trip;
    }
    taken.push_back(lowestPlace(piece.bytes, piece.alignment, taken));
    place(taken.back());
  }
}

unsigned bytesNeeded(llvm::iterator_range<Block::iterator> ops,
                     ArrayRef<Span> taken) {
  struct Needs : LiveBuffers {
    using LiveBuffers::LiveBuffers;
    void reached(Operation &op) override {
      if (SmallVector<ScratchPiece> pieces = scratchOf(&op); !pieces.empty()) {
        placePieces(pieces, spans(), [&](Span at) { count(at); });
      }
    }
    void placed(tilegpu::AllocOp, Span at) override { count(at); }
    void count(Span at) { bytes = std::max(bytes, at.end); }
    unsigned bytes = 0;
  };
  Needs needs(taken);
  for (Operation &op : ops) {
    needs.walk(op);
  }
  return needs.bytes;
}

//===----------------------------------------------------------------------===//
// A kernel's places
//===----------------------------------------------------------------------===//

namespace {

/// Bytes beyond those in use that a barrier is worth.
constexpr unsigned cheapBytes = 16 * 1024;
/// More pieces than this cannot all lie apart within `cheapBytes`.
constexpr unsigned mostNeighbours = cheapBytes / tilegpu::wavefrontBytes;

/// A buffer, or a piece of scratch.
struct Item {
  Operation *op = nullptr;
  bool isBuffer = false;
  Span at = {};
  unsigned alignment = 1, trip = 0; ///< of pieces
  SmallVector<Span> living = {};    ///< buffers that live at a piece's time
  /// No barrier lies between the reads of one and the writes of the other.
  SmallVector<unsigned> pending = {};
};

class Allocator : HazardWalk, LiveBuffers {
public:
  Allocator(func::FuncOp kernel, unsigned limit)
      : LiveBuffers({}), kernel(kernel), limit(limit) {}
  SharedAllocation run();

private:
  void reached(Operation &op) override;
  void placed(tilegpu::AllocOp op, Span at) override;
  Span spanOf(Operation *owner, unsigned piece) override {
    unsigned item = firstItem.lookup(owner) + piece;
    return {item, item + 1};
  }
  bool conflict(const Spans &read, const Spans &written) override;
  void leaveUnordered(const Spans &read, const Spans &written) override;
  void forget(Spans &pending, Spans &exposed) override {
    pending.keepLast(mostNeighbours);
    exposed.keepFirst(mostNeighbours);
  }
  void moveTrip(unsigned first, unsigned end);

  func::FuncOp kernel;
  unsigned limit, used = 0;
  std::vector<Item> items; ///< in program order
  DenseMap<Operation *, unsigned> firstItem;
};

} // namespace

void Allocator::placed(tilegpu::AllocOp op, Span at) {
  firstItem[op] = items.size();
  items.push_back({op, /*isBuffer=*/true, at});
  used = std::max(used, at.end);
}

void Allocator::reached(Operation &op) {
  ArrayRef<ScratchPiece> pieces = piecesOf(&op);
  if (pieces.empty()) {
    return;
  }
  firstItem[&op] = items.size();
  SmallVector<Span> living = spans();
  const ScratchPiece *piece = pieces.begin();
  placePieces(pieces, living, [&](Span at) {
    items.push_back(
        {&op, /*isBuffer=*/false, at, piece->alignment, piece->trip, living});
    ++piece;
  });
}

/// The numbers of items, the first or the last of them.
static SmallVector<unsigned> firstItems(ArrayRef<Span> spans) {
  SmallVector<unsigned> numbers;
  for (Span span : spans) {
    for (unsigned i = span.begin;
         i < span.end && numbers.size() < mostNeighbours; ++i) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

static SmallVector<unsigned> lastItems(ArrayRef<Span> spans) {
  SmallVector<unsigned> numbers;
  for (Span span : llvm::reverse(spans)) {
    for (unsigned i = span.end;
         i > span.begin && numbers.size() < mostNeighbours; --i) {
      numbers.push_back(i - 1);
    }
  }
  return numbers;
}

/// Will they have a barrier between them? Those of one place certainly, and a
/// buffer takes the lowest place, which is likely to be still read.
bool Allocator::conflict(const Spans &read, const Spans &written) {
  auto isCrowded = [&](unsigned i) {
    return items[i].pending.size() > mostNeighbours;
  };
  SmallVector<unsigned> before = lastItems(read);
  for (unsigned y : firstItems(written)) {
    for (unsigned x : before) {
      if (x == y || items[y].isBuffer || isCrowded(x) || isCrowded(y)) {
        return true;
      }
    }
  }
  return false;
}

void Allocator::leaveUnordered(const Spans &read, const Spans &written) {
  SmallVector<unsigned> before = lastItems(read);
  for (unsigned y : firstItems(written)) {
    for (unsigned x : before) {
      if (!llvm::is_contained(items[x].pending, y)) {
        items[x].pending.push_back(y);
        items[y].pending.push_back(x);
      }
    }
  }
}

/// Away from what is pending, where that is cheap for all pieces of the trip.
void Allocator::moveTrip(unsigned first, unsigned end) {
  SmallVector<Span> places;
  bool isCheap = true;
  for (unsigned i = first; i < end; ++i) {
    const Item &item = items[i];
    SmallVector<Span> apart(item.living);
    apart.append(places);
    unsigned livingEnd = 0;
    for (Span living : apart) {
      livingEnd = std::max(livingEnd, living.end);
    }
    for (unsigned other : item.pending) {
      if (other < first || items[other].isBuffer) {
        apart.push_back(items[other].at);
      }
    }
    Span at = lowestPlace(item.at.end - item.at.begin, item.alignment, apart);
    isCheap &=
        at.end <= used || at.end <= std::min(livingEnd + cheapBytes, limit);
    places.push_back(at);
  }
  for (unsigned i = first; i < end; ++i) {
    if (isCheap) {
      items[i].at = places[i - first];
    }
    used = std::max(used, items[i].at.end);
  }
}

SharedAllocation Allocator::run() {
  walk(*kernel);
  SharedAllocation allocation;
  if (items.empty()) {
    return allocation;
  }
  HazardWalk::run(kernel);
  for (unsigned i = 0, end; i < items.size(); i = end) {
    for (end = i + 1; end < items.size() && items[end].op == items[i].op &&
                      items[end].trip == items[i].trip;) {
      ++end;
    }
    if (!items[i].isBuffer) {
      moveTrip(i, end);
    }
  }
  for (const Item &item : items) {
    allocation.offsets[item.op].push_back(item.at.begin);
  }
  allocation.bytes = used;
  return allocation;
}

SharedAllocation allocateShared(func::FuncOp kernel, unsigned limit) {
  return Allocator(kernel, limit).run();
}

} // namespace nereid
