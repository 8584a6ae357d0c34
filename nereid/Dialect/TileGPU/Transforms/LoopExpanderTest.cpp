//===- LoopExpanderTest.cpp - Random schedules, run -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop with two copies, a product and a sum gets random schedules. Those that
// verify are expanded, and run on a machine that only knows what the operations
// promise: a copy lands at any time up to the wait for its group, a product in
// flight reads its operands at any time up to its wait, and a thread that
// lags may do what it did since the last barrier only now. The results must
// be those of the loop as it was.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/LoopExpander.h"

#include "nereid/Analysis/AxisInfo.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace nereid;
using namespace nereid::tilegpu;
using namespace mlir;

namespace {

// %off is a carried address, %k the counter; %a is read by the product and in
// registers.
constexpr const char *program = R"mlir(
#l = #tilegpu.layout<registers = [1, 2, 4, 8, 16], lanes = [32, 64, 128, 256, 512], warps = [1024, 2048]>
!pointers = tensor<64x64x!tile.ptr<f16>, #l>
!half = tensor<64x64xf16, #l>
!float = tensor<64x64xf32, #l>
func.func @f(%p: !pointers, %q: !pointers, %z: !float, %h: !half, %n: i32) -> (!float, !half) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %r:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %z, %sum = %h, %off = %c7) -> (!float, !half, i32) : i32 {
    %o = tile.splat %off : i32 -> tensor<64x64xi32, #l>
    %pa = tile.addptr %p, %o : !pointers, tensor<64x64xi32, #l>
    %a = tile.load %pa : !pointers
    %m = arith.muli %k, %c7 : i32
    %s = tile.splat %m : i32 -> tensor<64x64xi32, #l>
    %qb = tile.addptr %q, %s : !pointers, tensor<64x64xi32, #l>
    %b = tile.load %qb : !pointers
    %d = tile.dot %a, %b, %acc {tilegpu.warpgroup_mma} : !half, !half, !float
    %t = arith.addf %sum, %a : !half
    %next = arith.addi %off, %m : i32
    scf.yield %d, %t, %next : !float, !half, i32
  }
  return %r#0, %r#1 : !float, !half
}
)mlir";

struct Number {
  int64_t value = 0;         ///< of an integer; of other things, a hash
  bool isUnfinished = false; ///< a product in flight
};

class Machine {
public:
  explicit Machine(unsigned seed) : random(seed) {}

  /// What the function returns, or what went wrong.
  std::string run(func::FuncOp function, int64_t trips) {
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      values[argument] = {argument.getType().isInteger() ? trips
                                                         : int64_t(1000 + i)};
    }
    runBlock(function.getBody().front());
    if (!problem.empty()) {
      return problem;
    }
    std::string results;
    for (Value value :
         function.getBody().front().getTerminator()->getOperands()) {
      results += std::to_string(get(value)) + " ";
    }
    return results;
  }

private:
  using Slot = std::pair<Operation *, int64_t>;
  struct Copy {
    Slot to;
    int64_t tile;
    bool hasLanded;
  };
  using Reads = std::vector<Slot>;

  void fail(Operation *op, const std::string &what) {
    if (problem.empty()) {
      problem = what + " at " + op->getName().getStringRef().str();
    }
  }
  int64_t get(Value value) {
    const Number &number = values[value];
    if (number.isUnfinished) {
      fail(value.getDefiningOp(), "an unfinished product is used");
    }
    return number.value;
  }
  static int64_t mix(std::initializer_list<int64_t> parts) {
    return static_cast<int64_t>(
        llvm::hash_combine_range(parts.begin(), parts.end()));
  }
  void meet() { readByOthers.clear(); }
  void land(Copy &copy) {
    memory[copy.to] = copy.tile;
    copy.hasLanded = true;
  }

  void runBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (problem.empty()) {
        run(&op);
      }
    }
  }

  void run(Operation *op) {
    auto integer = [&](auto compute) {
      values[op->getResult(0)] = {
          compute(get(op->getOperand(0)), get(op->getOperand(1)))};
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](arith::ConstantOp c) {
          values[c] = {cast<IntegerAttr>(c.getValue()).getInt()};
        })
        .Case([&](arith::AddIOp) {
          integer([](int64_t a, int64_t b) { return a + b; });
        })
        .Case([&](arith::SubIOp) {
          integer([](int64_t a, int64_t b) { return a - b; });
        })
        .Case([&](arith::MulIOp) {
          integer([](int64_t a, int64_t b) { return a * b; });
        })
        .Case([&](arith::CmpIOp compare) {
          integer([&](int64_t a, int64_t b) {
            return compare.getPredicate() == arith::CmpIPredicate::eq ? a == b
                                                                      : a < b;
          });
        })
        .Case([&](arith::SelectOp select) {
          values[select] = {get(select.getCondition())
                                ? get(select.getTrueValue())
                                : get(select.getFalseValue())};
        })
        .Case<arith::ExtSIOp, tile::SplatOp>([&](Operation *) {
          values[op->getResult(0)] = {get(op->getOperand(0))};
        })
        .Case<tile::AddPtrOp, arith::AddFOp>([&](Operation *) {
          integer([](int64_t a, int64_t b) { return mix({a, b}); });
        })
        .Case([&](tile::LoadOp load) {
          values[load] = {mix({get(load.getPtr()), 5})};
        })
        .Case([&](tile::DotOp dot) { runDot(dot); })
        .Case([&](scf::ForOp loop) { runLoop(loop); })
        .Case<AllocOp>([](Operation *) {})
        .Case([&](FreeOp) {
          if (!products.empty()) {
            fail(op, "a product is still in flight");
          }
        })
        .Case([&](CopyAsyncOp copy) { startCopy(copy); })
        .Case([&](CommitCopiesOp) {
          groups.push_back(std::move(open));
          open.clear();
        })
        .Case([&](WaitCopiesOp wait) { waitForCopies(wait.getPending()); })
        .Case([&](LocalLoadOp load) {
          Slot slot = {load.getBuffer().getDefiningOp(), get(load.getSlot())};
          if (!visible.contains(slot)) {
            fail(op, "a slot without a tile is read");
          }
          values[load] = {memory[slot]};
          readByOthers.push_back(slot);
        })
        .Case([&](WaitProductsOp wait) {
          waitForProducts(0);
          values[wait] = {values[wait.getProduct()].value};
        })
        .Case([&](WaitOlderProductsOp wait) {
          waitForProducts(wait.getPending());
        })
        .Case([&](BarrierOp) { meet(); })
        .Default([&](Operation *) { fail(op, "nothing known"); });
  }

  void runDot(tile::DotOp dot) {
    bool isInFlight = dot->hasAttr(inFlightAttr);
    const Number &sum = values[dot.getC()];
    if (sum.isUnfinished && !isInFlight) {
      fail(dot, "an unfinished sum is used");
    }
    values[dot] = {mix({get(dot.getLhs()), get(dot.getRhs()), sum.value}),
                   isInFlight};
    Reads reads;
    for (Value operand : {dot.getLhs(), dot.getRhs()}) {
      if (auto load = operand.getDefiningOp<LocalLoadOp>()) {
        reads.emplace_back(load.getBuffer().getDefiningOp(),
                           get(load.getSlot()));
      }
    }
    if (isInFlight) {
      products.push_back(std::move(reads));
    }
  }

  void waitForProducts(unsigned pending) {
    while (products.size() > pending) {
      llvm::append_range(readByOthers, products.front());
      products.erase(products.begin());
    }
  }

  void startCopy(CopyAsyncOp copy) {
    if (!get(copy.getCondition())) {
      return;
    }
    Slot slot = {copy.getBuffer().getDefiningOp(), get(copy.getSlot())};
    bool isRead = llvm::is_contained(readByOthers, slot);
    for (const Reads &reads : products) {
      isRead |= llvm::is_contained(reads, slot);
    }
    auto isOnItsWay = [&](const Copy &other) { return other.to == slot; };
    for (const std::vector<Copy> &group : groups) {
      isRead |= llvm::any_of(group, isOnItsWay);
    }
    if (isRead || llvm::any_of(open, isOnItsWay)) {
      fail(copy, "a slot that is still wanted is overwritten");
    }
    visible.erase(slot);
    open.push_back({slot, mix({get(copy.getPointers()), 5}), false});
    if (random() % 2) {
      land(open.back());
    }
  }

  void waitForCopies(unsigned pending) {
    while (groups.size() > pending) {
      for (Copy &copy : groups.front()) {
        if (!copy.hasLanded) {
          land(copy);
        }
        visible.insert(copy.to);
      }
      groups.erase(groups.begin());
    }
    meet();
  }

  void runLoop(scf::ForOp loop) {
    SmallVector<Number> carried;
    for (Value init : loop.getInitArgs()) {
      carried.push_back(values[init]);
    }
    for (int64_t i = get(loop.getLowerBound()); i < get(loop.getUpperBound());
         i += get(loop.getStep())) {
      values[loop.getInductionVar()] = {i};
      for (auto [argument, number] :
           llvm::zip_equal(loop.getRegionIterArgs(), carried)) {
        values[argument] = number;
      }
      runBlock(*loop.getBody());
      for (auto [value, number] :
           llvm::zip_equal(loop.getYieldedValues(), carried)) {
        number = values[value];
      }
    }
    for (auto [result, number] : llvm::zip_equal(loop.getResults(), carried)) {
      values[result] = number;
    }
  }

  std::mt19937 random;
  std::string problem;
  DenseMap<Value, Number> values;
  std::map<Slot, int64_t> memory;
  std::set<Slot> visible;
  std::vector<Copy> open;
  std::vector<std::vector<Copy>> groups;
  std::vector<Reads> products; ///< in flight
  Reads readByOthers;          ///< since the last barrier
};

class LoopExpanderTest : public testing::Test {
protected:
  LoopExpanderTest() {
    context.loadDialect<TileGPUDialect, tile::TileDialect, arith::ArithDialect,
                        scf::SCFDialect, func::FuncDialect>();
  }

  OwningOpRef<ModuleOp> parse() {
    return parseSourceString<ModuleOp>(program, &context);
  }
  static func::FuncOp functionOf(ModuleOp module) {
    return *module.getOps<func::FuncOp>().begin();
  }
  static scf::ForOp loopOf(ModuleOp module) {
    return *functionOf(module).getOps<scf::ForOp>().begin();
  }

  /// The loop's operations, in the order of the text: o pa a m s qb b d t next.
  static LoopSchedule randomSchedule(scf::ForOp loop, std::mt19937 &random) {
    auto below = [&](unsigned n) {
      return static_cast<unsigned>(random() % n);
    };
    SmallVector<Operation *> ops;
    for (Operation &op : loop.getBody()->without_terminator()) {
      ops.push_back(&op);
    }
    enum { O, PA, A, M, S, QB, B, D, T, Next };
    unsigned last = 1 + below(4), ofA = below(last), ofB = below(last);
    LoopSchedule schedule(loop);
    schedule.slots = last - std::min(ofA, ofB) + 1 + below(3);
    // Mostly in an order that may do.
    unsigned start = below(3), copies = start + below(3);
    unsigned rest = copies + below(3);
    std::map<unsigned, std::set<Operation *>> ahead;
    for (unsigned i : {O, PA, M, Next}) {
      ahead[ofA].insert(ops[i]);
    }
    for (unsigned i : {M, S, QB}) {
      ahead[ofB].insert(ops[i]);
    }
    for (auto &[stage, members] : ahead) {
      for (Operation *op : members) {
        schedule.run(op, {stage, copies});
      }
    }
    schedule.run(ops[A], {ofA, copies + below(2)});
    schedule.run(ops[B], {ofB, copies + below(2)});
    schedule.finish(ops[A], {last, below(2) ? start : rest});
    schedule.finish(ops[B], {last, below(2) ? start : rest});
    schedule.run(ops[D], {last, start});
    if (unsigned end = below(3)) {
      schedule.finish(ops[D], {last + end - 1, below(6)});
    }
    schedule.run(ops[T], {last, rest});
    return schedule;
  }

  MLIRContext context;
};

TEST_F(LoopExpanderTest, SchedulesThatVerifyComputeTheSame) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  std::mt19937 random(1);
  unsigned expanded = 0, carried = 0, barriers = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    OwningOpRef<ModuleOp> before = parse(), module = parse();
    scf::ForOp loop = loopOf(*module);
    LoopSchedule schedule = randomSchedule(loop, random);
    if (failed(schedule.verify())) {
      continue;
    }
    bool isCarried = schedule.leavesProducts();
    schedule.write();
    AxisInfoAnalysis axes(functionOf(*module));
    LoopSchedule read = LoopSchedule::read(loop);
    LoopExpander expander(loop, read, axes);
    expander.expand();
    expander.replaceLoop();
    ASSERT_TRUE(succeeded(verify(*module)));
    for (int64_t trips = 0; trips < 8; ++trips) {
      std::string want = Machine(0).run(functionOf(*before), trips);
      std::string got =
          Machine(static_cast<unsigned>(trips)).run(functionOf(*module), trips);
      if (want != got) {
        module->dump();
      }
      ASSERT_EQ(want, got) << trips << " iterations";
    }
    ++expanded;
    carried += isCarried;
    module->walk([&](BarrierOp) { ++barriers; });
  }
  EXPECT_GT(expanded, 300u);
  EXPECT_GT(carried, 50u);
  EXPECT_GT(barriers, 10u);
  EXPECT_LT(barriers, carried);
}

// The machine sees what the barrier and the wait are for.
TEST_F(LoopExpanderTest, WithoutItsBarrierOrWaitALoopIsWrong) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  std::mt19937 random(2);
  unsigned loops = 0;
  while (loops < 10) {
    OwningOpRef<ModuleOp> module = parse();
    scf::ForOp loop = loopOf(*module);
    LoopSchedule schedule = randomSchedule(loop, random);
    if (failed(schedule.verify()) || !schedule.leavesProducts()) {
      continue;
    }
    AxisInfoAnalysis axes(functionOf(*module));
    LoopExpander expander(loop, schedule, axes);
    expander.expand();
    expander.replaceLoop();
    SmallVector<Operation *> meets;
    module->walk([&](BarrierOp barrier) { meets.push_back(barrier); });
    if (meets.empty()) {
      continue;
    }
    meets[0]->erase();
    std::string got = Machine(0).run(functionOf(*module), 7);
    EXPECT_NE(got.find("is still wanted"), std::string::npos) << got;
    ++loops;
  }
}

} // namespace
