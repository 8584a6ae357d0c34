//===- SharedMemoryTest.cpp - Places and barriers of random programs ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random structured programs get their places and barriers; then they are
// walked, operation by operation, iteration by iteration, along random paths.
// The walk remembers what was touched since the last barrier: two accesses that
// conflict must not meet there, and what lives at once must lie apart. It knows
// nothing of how the passes decide.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Analysis/Scratch.h"
#include "nereid/Analysis/SharedAllocation.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace nereid;
using namespace nereid::tilegpu;
using namespace mlir;

namespace {

constexpr const char *targetName = "toy";

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::string layoutText(const char *name, unsigned bits, unsigned inRegisters) {
  // `inRegisters` of the lowest bits, then lanes, warps, and registers again.
  std::vector<std::string> columns;
  for (unsigned i = 0; i < bits; ++i) {
    columns.push_back(std::to_string(1u << i));
  }
  auto list = [&](unsigned from, unsigned to) {
    return llvm::join(columns.begin() + from, columns.begin() + to, ", ");
  };
  std::string high = list(inRegisters + 7, bits);
  std::string registers = list(0, inRegisters);
  registers += (registers.empty() || high.empty() ? "" : ", ") + high;
  return std::string("#") + name + std::to_string(bits) +
         " = #tilegpu.layout<registers = [" + registers + "], lanes = [" +
         list(inRegisters, inRegisters + 5) + "], warps = [" +
         list(inRegisters + 5, inRegisters + 7) + "]>\n";
}

class ProgramWriter {
public:
  explicit ProgramWriter(unsigned seed) : random(seed) {}

  std::string write() {
    std::string text;
    for (unsigned bits : sizes) {
      text += layoutText("a", bits, 2) + layoutText("b", bits, 0);
    }
    text += "#e = #tilegpu.layout<registers = [], lanes = [1, 2, 4, 8, 16], "
            "warps = [0, 0]>\n"
            "!buffer = !tilegpu.buffer<1 x [1024] x f32, offsets = [1, 2, 4, "
            "8, 16, 32, 64, 128, 256, 512]>\n"
            "func.func @f(%c: i1, %n: i32, %o: tensor<1024xi32, #a10>";
    for (const char *root : {"0", "1"}) {
      text += std::string(", %p") + root + ": tensor<1024x" + pointer +
              ", #a10>, %q" + root + ": tensor<32x" + pointer + ", #e>, %s" +
              root + ": " + pointer;
    }
    for (unsigned bits : sizes) {
      std::string size = std::to_string(1u << bits), b = std::to_string(bits);
      text += ", %a" + b + ": tensor<" + size + "xf32, #a" + b + ">, %b" + b +
              ": tensor<" + size + "xf32, #b" + b + ">";
    }
    text += ", %e: tensor<32xf32, #e>, %f: f32) attributes {tilegpu.target = "
            "\"toy\", tilegpu.warps = 4 : i32} {\n%c0 = arith.constant 0 : "
            "i32\n%c1 = arith.constant 1 : "
            "i32\n";
    statements(text, 0, 2 + below(5));
    return text + "return\n}\n";
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  std::string fresh() { return "%v" + std::to_string(next++); }

  void statements(std::string &text, unsigned depth, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      statement(text, depth);
    }
  }

  void statement(std::string &text, unsigned depth) {
    std::string root = below(2) ? "1" : "0";
    unsigned kind = below(depth < 3 ? 13 : 8);
    if (kind < 3) {
      std::string bits = std::to_string(sizes[below(8) ? 0 : below(3)]);
      std::string size = std::to_string(1u << std::stoi(bits));
      bool isA = below(2);
      std::string from = isA ? "a" : "b", to = isA ? "b" : "a";
      text += fresh() + " = tilegpu.convert_layout %" + from + bits +
              " : tensor<" + size + "xf32, #" + from + bits + "> -> tensor<" +
              size + "xf32, #" + to + bits + ">\n";
    } else if (kind == 3) {
      access(text, "%p" + root, "%a10", "tensor<1024x" + pointer + ", #a10>");
    } else if (kind == 4) {
      std::string moved = fresh();
      text += moved + " = tile.addptr %p" + root + ", %o : tensor<1024x" +
              pointer + ", #a10>, tensor<1024xi32, #a10>\n";
      std::string type = "tensor<1024x" + pointer + ", #a10>";
      access(text, moved, "%a10", type);
      access(text, moved, "%a10", type);
    } else if (kind == 5) {
      access(text, "%q" + root, "%e", "tensor<32x" + pointer + ", #e>");
    } else if (kind == 6) {
      const char *semantics[] = {"relaxed", "acquire", "release", "acq_rel"};
      std::string old = fresh();
      text += old + " = tile.atomic_rmw fadd, " + semantics[below(4)] +
              ", gpu, %s" + root + ", %f : " + pointer + "\n";
      if (below(2)) {
        text += "tile.store %s" + root + ", " + old + " : " + pointer + "\n";
      }
    } else if (kind == 7) {
      access(text, "%s" + root, "%f", pointer);
    } else if (kind == 8) {
      // Of two buffers the first may end inside the second's life.
      std::string buffer = fresh(), other = below(3) ? "" : fresh();
      text += buffer + " = tilegpu.alloc : !buffer\n";
      statements(text, depth + 1, below(2));
      if (!other.empty()) {
        text += other + " = tilegpu.alloc : !buffer\n" + stored(other);
        statements(text, depth + 1, below(2));
      }
      text += stored(buffer);
      statements(text, depth + 1, below(3));
      text += loaded(buffer);
      statements(text, depth + 1, below(2));
      text += "tilegpu.free " + buffer + " : !buffer\n";
      if (!other.empty()) {
        statements(text, depth + 1, 1 + below(2));
        text += loaded(other) + "tilegpu.free " + other + " : !buffer\n";
      }
    } else if (kind < 11) {
      text += "scf.for " + fresh() + " = %c0 to %n step %c1 : i32 {\n";
      statements(text, depth + 1, 1 + below(4));
      text += "}\n";
    } else if (kind == 11) {
      text += "scf.if %c {\n";
      statements(text, depth + 1, 1 + below(3));
      text += below(2) ? "} else {\n" : "}\nscf.if %c {\n";
      statements(text, depth + 1, 1 + below(3));
      text += "}\n";
    } else {
      text += "scf.while : () -> () {\n";
      statements(text, depth + 1, below(3));
      text += "scf.condition(%c)\n} do {\n";
      statements(text, depth + 1, below(3));
      text += "scf.yield\n}\n";
    }
  }

  std::string stored(const std::string &buffer) {
    return "tilegpu.local_store %a10, " + buffer +
           "[%c0] : tensor<1024xf32, #a10>, !buffer\n";
  }
  std::string loaded(const std::string &buffer) {
    return fresh() + " = tilegpu.local_load " + buffer +
           "[%c0] : !buffer -> tensor<1024xf32, #b10>\n";
  }

  void access(std::string &text, const std::string &at,
              const std::string &value, const std::string &type) {
    text += below(2) ? "tile.store " + at + ", " + value + " : " + type + "\n"
                     : fresh() + " = tile.load " + at + " : " + type + "\n";
  }

  /// Bytes of f32: 4 KiB, 32 KiB, 128 KiB, which goes in pieces.
  static constexpr unsigned sizes[] = {10, 13, 15};
  const std::string pointer = "!tile.ptr<f32>";
  std::mt19937 random;
  unsigned next = 0;
};

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

struct Touch {
  bool writes = false;
  bool isShared = false;
  unsigned begin = 0, end = 0; ///< shared
  Value root, pointers;        ///< global; null pointers: others' elements too
  unsigned instance = 0;       ///< which computation of the pointers

  bool conflictsWith(const Touch &other) const {
    if (isShared != other.isShared || !(writes || other.writes)) {
      return false;
    }
    if (isShared) {
      return begin < other.end && other.begin < end;
    }
    bool sameThreads =
        pointers && pointers == other.pointers && instance == other.instance;
    return (!root || !other.root || root == other.root) && !sameThreads;
  }
};

class Walker {
public:
  explicit Walker(unsigned seed) : random(seed) {}
  /// What is wrong along one path; empty: nothing.
  std::string run(func::FuncOp kernel) {
    block(kernel.getBody().front());
    return problem;
  }

private:
  void meet() { touched.clear(); }
  void touch(Operation *op, const Touch &touch) {
    for (const Touch &before : touched) {
      if (before.conflictsWith(touch)) {
        complain(op, "conflicts with what came since the last barrier");
      }
    }
    touched.push_back(touch);
  }
  void complain(Operation *op, const char *what) {
    if (problem.empty()) {
      llvm::raw_string_ostream stream(problem);
      stream << *op << ": " << what;
    }
  }
  static Touch shared(bool writes, unsigned begin, unsigned bytes) {
    Touch touch;
    touch.isShared = true;
    touch.writes = writes;
    touch.begin = begin;
    touch.end = begin + bytes;
    return touch;
  }

  void block(Block &block) {
    for (Operation &op : block) {
      operation(&op);
    }
  }

  void runWhile(scf::WhileOp op) {
    for (unsigned left = random() % 4;; --left) {
      block(op.getBefore().front());
      if (!left) {
        return;
      }
      block(op.getAfter().front());
    }
  }

  void operation(Operation *op) {
    for (Value result : op->getResults()) {
      ++instances[result];
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (unsigned left = random() % 4; left--;) {
        block(*loop.getBody());
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Region &region =
          random() % 2 ? branch.getThenRegion() : branch.getElseRegion();
      if (!region.empty()) {
        block(region.front());
      }
    } else if (auto whileLoop = dyn_cast<scf::WhileOp>(op)) {
      runWhile(whileLoop);
    } else if (isa<BarrierOp>(op)) {
      meet();
    } else if (auto alloc = dyn_cast<AllocOp>(op)) {
      Touch place =
          shared(true, *alloc.getOffset(), alloc.getType().getBytes());
      for (auto &[other, taken] : alive) {
        if (taken.begin < place.end && place.begin < taken.end) {
          complain(op, "overlaps a buffer that lives");
        }
      }
      alive[alloc] = place;
    } else if (auto free = dyn_cast<FreeOp>(op)) {
      alive.erase(free.getBuffer().getDefiningOp());
    } else if (auto store = dyn_cast<LocalStoreOp>(op)) {
      touch(op, alive.at(store.getBuffer().getDefiningOp()));
      meet();
    } else if (auto load = dyn_cast<LocalLoadOp>(op)) {
      Touch read = alive.at(load.getBuffer().getDefiningOp());
      read.writes = false;
      touch(op, read);
    } else if (isa<tile::LoadOp, tile::StoreOp>(op)) {
      global(op, isa<tile::StoreOp>(op));
    } else if (auto atomic = dyn_cast<tile::AtomicRMWOp>(op)) {
      using S = tile::MemSemantic;
      S semantic = atomic.getSemantic();
      if (semantic == S::Release || semantic == S::AcqRel) {
        meet();
      }
      global(op, true);
      trips(op);
      if (op->use_empty() &&
          (semantic == S::Acquire || semantic == S::AcqRel)) {
        meet();
      }
    } else if (isa<ConvertLayoutOp>(op)) {
      trips(op);
    }
  }

  void global(Operation *op, bool writes) {
    Touch access;
    access.writes = writes;
    Value pointers = op->getOperand(0);
    access.root = rootPointer(pointers);
    // Every element of %p and what is made of it has one thread; of %q and %s
    // many threads load what one has written.
    auto type = dyn_cast<RankedTensorType>(pointers.getType());
    bool isOwn = type && type.getNumElements() == 1024;
    if (isOwn || !writes) {
      access.pointers = pointers;
      access.instance = instances[pointers];
    }
    touch(op, access);
  }

  void trips(Operation *op) {
    SmallVector<ScratchPiece> pieces = scratchOf(op);
    auto scratch = op->getAttrOfType<ScratchAttr>(scratchAttr);
    for (auto [i, piece] : llvm::enumerate(pieces)) {
      if (llvm::is_contained(scratch.getBehindBarrier(), i)) {
        meet();
      }
      Touch place = shared(true, scratch.getOffsets()[i], piece.bytes);
      for (auto &[other, taken] : alive) {
        if (taken.begin < place.end && place.begin < taken.end) {
          complain(op, "overlaps a buffer that lives");
        }
      }
      touch(op, place);
      meet(); // each piece of these operations is a trip of its own
      place.writes = false;
      touch(op, place);
    }
  }

  std::mt19937 random;
  std::vector<Touch> touched;
  std::map<Operation *, Touch> alive;
  llvm::DenseMap<Value, unsigned> instances;
  std::string problem;
};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

class SharedMemoryTest : public testing::Test {
protected:
  SharedMemoryTest() {
    DialectRegistry registry;
    registry.insert<tile::TileDialect, TileGPUDialect, arith::ArithDialect,
                    func::FuncDialect, scf::SCFDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    TargetInfo toy;
    toy.name = targetName;
    toy.lanes = 32;
    toy.sharedLimit = 227 * 1024;
    context.getLoadedDialect<TileGPUDialect>()->addTarget(toy);
  }

  OwningOpRef<ModuleOp> prepared(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(bool(module)) << text;
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createAllocateShared());
    passes.addNestedPass<func::FuncOp>(createInsertBarriers());
    EXPECT_TRUE(succeeded(passes.run(*module))); // and the verifier
    return module;
  }

  static std::string problemOf(ModuleOp module, unsigned paths) {
    auto kernel = *module.getOps<func::FuncOp>().begin();
    for (unsigned seed = 0; seed < paths; ++seed) {
      std::string problem = Walker(seed).run(kernel);
      if (!problem.empty()) {
        return problem;
      }
    }
    return "";
  }

  /// Takes away what insertBarriers placed; returns whether there was
  /// something.
  static bool removeBarriers(ModuleOp module) {
    bool found = false;
    module.walk([&](Operation *op) {
      if (isa<BarrierOp>(op)) {
        op->erase();
        found = true;
      } else if (auto scratch = op->getAttrOfType<ScratchAttr>(scratchAttr)) {
        found |= !scratch.getBehindBarrier().empty();
        op->setAttr(scratchAttr,
                    ScratchAttr::get(op->getContext(), scratch.getOffsets(), {},
                                     scratch.getWarps()));
      }
    });
    return found;
  }

  MLIRContext context;
};

TEST_F(SharedMemoryTest, NoPathOfARandomProgramHasAHazard) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    std::string text = ProgramWriter(seed).write();
    auto module = prepared(text);
    ASSERT_EQ(problemOf(*module, 40), "") << "seed " << seed << "\n" << text;
  }
}

// The walk would see a hazard: without the barriers it does, in most programs
// that had one. Some are only there for paths that are not walked.
TEST_F(SharedMemoryTest, WithoutBarriersThereAreHazards) {
  unsigned programs = 0, caught = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    auto module = prepared(ProgramWriter(seed).write());
    if (removeBarriers(*module)) {
      ++programs;
      caught += problemOf(*module, 40) != "";
    }
  }
  EXPECT_GT(programs, 40u);
  EXPECT_GE(caught, programs * 9 / 10);
}

// Nor are places apart by chance.
TEST_F(SharedMemoryTest, AtOnePlaceThereAreHazards) {
  unsigned caught = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    auto module = prepared(ProgramWriter(seed).write());
    module->walk([](AllocOp alloc) { alloc.setOffset(0); });
    caught += problemOf(*module, 40) != "";
  }
  EXPECT_GT(caught, 5u);
}

// What the scheduler of loops builds on: a kernel takes no more than its parts
// need, if the target has that, and a loop needs the same alone as in the
// kernel.
TEST_F(SharedMemoryTest, AKernelTakesWhatItsPartsNeed) {
  unsigned loops = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    std::string text = ProgramWriter(seed).write();
    auto module = parseSourceString<ModuleOp>(text, &context);
    auto kernel = *module->getOps<func::FuncOp>().begin();
    Block &body = kernel.getBody().front();
    unsigned needed = bytesNeeded({body.begin(), body.end()}, {});
    EXPECT_EQ(allocateShared(kernel, needed).bytes, needed) << text;
    EXPECT_EQ(allocateShared(kernel, 0).bytes, needed) << text;
    unsigned ofLoops = 0, ofRest = 0;
    auto living = buffersAtLoops(kernel);
    for (Operation &op : body) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        Block::iterator at(op);
        ofLoops = std::max(
            ofLoops, bytesNeeded({at, std::next(at)}, living.lookup(loop)));
        ++loops;
      }
    }
    SmallVector<scf::ForOp> outermost(body.getOps<scf::ForOp>());
    for (scf::ForOp loop : outermost) {
      loop.erase();
    }
    ofRest = bytesNeeded({body.begin(), body.end()}, {});
    EXPECT_EQ(std::max(ofLoops, ofRest), needed) << text;
  }
  EXPECT_GT(loops, 50u);
}

// Buffers that overlap without one living inside the other leave a gap, which
// a loop after them has to know.
TEST_F(SharedMemoryTest, AGapUnderABufferIsNoRoomForALargerOne) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    !small = !tilegpu.buffer<1 x [1024] x f32, offsets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
    !large = !tilegpu.buffer<2 x [1024] x f32, offsets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]>
    func.func @f(%n: i32) attributes {tilegpu.target = "toy", tilegpu.warps = 4 : i32} {
      %c1 = arith.constant 1 : i32
      %low = tilegpu.alloc : !small
      %high = tilegpu.alloc : !small
      tilegpu.free %low : !small
      scf.for %i = %c1 to %n step %c1 : i32 {
        %inner = tilegpu.alloc : !large
        tilegpu.free %inner : !large
      }
      tilegpu.free %high : !small
      return
    })mlir",
                                            &context);
  auto kernel = *module->getOps<func::FuncOp>().begin();
  auto loop = *kernel.getOps<scf::ForOp>().begin();
  Block::iterator at(loop.getOperation());
  auto living = buffersAtLoops(kernel);
  EXPECT_EQ(living.lookup(loop), (SmallVector<Span>{{4096, 8192}}));
  EXPECT_EQ(bytesNeeded({at, std::next(at)}, living.lookup(loop)), 16384u);
  EXPECT_EQ(allocateShared(kernel, 0).bytes, 16384u);
}

} // namespace
