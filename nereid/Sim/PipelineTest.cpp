//===- PipelineTest.cpp - A producer, slots, groups that consume ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// test/pipeline.ptx and test/products.ptx, whole and with one line taken out or
// changed: what every such mistake is reported as. test/gpu/pipelines.py runs
// the same texts on a GPU.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Float.h"
#include "nereid/Sim/Launch.h"
#include "nereid/Sim/TensorMap.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace nereid::sim;
using testing::AnyOf;
using testing::HasSubstr;

namespace {

/// A file of test/, with its names filled in, and with `becomes` for the lines
/// of a mark.
std::string textOf(const std::string &file, const std::string &mark,
                   const std::string &becomes,
                   const std::vector<std::pair<std::string, uint32_t>> &names) {
  std::ifstream input(std::string(NEREID_SOURCE_DIR "/nereid/Sim/test/") +
                      file);
  std::string line, all;
  while (std::getline(input, line)) {
    bool isMarked = !mark.empty() && line.ends_with("// @" + mark);
    all += (isMarked ? becomes : line) + "\n";
  }
  for (const auto &[name, value] : names) {
    std::string place = "{" + name + "}";
    for (size_t at; (at = all.find(place)) != std::string::npos;) {
      all.replace(at, place.size(), std::to_string(value));
    }
  }
  return all;
}

/// Of cuTensorMapEncodeTiled: rows without gaps.
template <typename T>
TensorMap mapOf(int type, std::vector<T> &tensor, uint64_t rows,
                uint32_t boxRows, uint32_t boxColumns, int swizzle) {
  uint64_t columns = tensor.size() / rows;
  uint64_t sizes[] = {columns, rows}, strides[] = {columns * sizeof(T)};
  uint32_t box[] = {boxColumns, boxRows}, ones[] = {1, 1};
  TensorMapRequest request;
  request.type = type;
  request.rank = 2;
  request.address = reinterpret_cast<uint64_t>(tensor.data());
  request.sizes = sizes;
  request.strides = strides;
  request.box = box;
  request.elementStrides = ones;
  request.swizzle = swizzle;
  return *encodeTiled(request);
}

template <typename T>
void addTo(std::vector<unsigned char> &parameters, const T &value) {
  size_t at = (parameters.size() + alignof(T) - 1) / alignof(T) * alignof(T);
  parameters.resize(at + sizeof(T));
  std::memcpy(&parameters[at], &value, sizeof(T));
}

/// How one of the kernels runs.
struct Run {
  /// Lines of this mark become this text.
  std::string mark = {}, becomes = {};
  AsyncOrder asyncOrder = AsyncOrder::Late;
  uint64_t seed = 0;
  bool checksRaces = true;

  /// Empty, or what went wrong.
  std::string operator()(const std::string &text, const Allocations &memory,
                         uint32_t threads, uint32_t sharedBytes,
                         const std::vector<unsigned char> &parameters) const {
    auto module = parsePtx(text);
    if (!module.ok()) {
      return module.failure().message;
    }
    auto program = decode(**module, (*module)->entries[0], 0);
    if (!program.ok()) {
      return program.failure().message;
    }
    LaunchRequest request{**program, memory, {1, 1, 1}, {threads, 1, 1}};
    request.sharedBytes = sharedBytes;
    request.parameters = parameters;
    request.asyncOrder = asyncOrder;
    request.checksRaces = checksRaces;
    request.seed = seed;
    nereid::Status status = launch(request);
    return status.ok() ? "" : status.failure().message;
  }
};

template <typename T>
void allow(Allocations &memory, std::vector<T> &tensor) {
  memory.add(reinterpret_cast<uint64_t>(tensor.data()),
             tensor.size() * sizeof(T));
}

struct Pipeline {
  static constexpr uint32_t rows = 37, columns = 44, boxRows = 16,
                            boxColumns = 32, slotBytes = 2048;
  uint32_t stages = 3, groups = 1;
  Run how = {};
  std::vector<float> from = std::vector<float>(rows * columns),
                     to = std::vector<float>(rows * columns);

  std::string run() {
    for (size_t i = 0; i < from.size(); ++i) {
      from[i] = float(i);
    }
    Allocations memory;
    allow(memory, from);
    allow(memory, to);
    std::vector<unsigned char> parameters;
    addTo(parameters, mapOf(7, from, rows, boxRows, boxColumns, 3));
    addTo(parameters, mapOf(7, to, rows, boxRows / groups, boxColumns, 0));
    addTo(parameters, 2 * ((rows + boxRows - 1) / boxRows));
    uint32_t barriers = (stages + groups) * slotBytes;
    uint32_t threads = 128 * (1 + groups);
    return how(textOf("pipeline.ptx", how.mark, how.becomes,
                      {{"STAGES", stages},
                       {"GROUPS", groups},
                       {"THREADS", threads},
                       {"RESULTS", stages * slotBytes},
                       {"FULL", barriers},
                       {"EMPTY", barriers + 8},
                       {"GROUP_BYTES", slotBytes / groups},
                       {"PER_THREAD", 4 / groups},
                       {"ROWS", boxRows / groups}}),
               memory, threads, barriers + 16 * stages, parameters);
  }

  bool isRight() const {
    for (size_t i = 0; i < from.size(); ++i) {
      if (to[i] != 2 * from[i] + 1) {
        return false;
      }
    }
    return true;
  }
};

/// 64 x 104 times 8 x 104: seven boxes, the last half outside.
struct Products {
  static constexpr uint32_t rows = 64, columns = 8, depth = 104, step = 16,
                            slotBytes = 3072;
  uint32_t stages = 3;
  Run how = {};
  std::vector<uint16_t> a = std::vector<uint16_t>(rows * depth),
                        b = std::vector<uint16_t>(columns * depth);
  std::vector<float> y = std::vector<float>(rows * columns);

  static int valueOf(size_t i) { return int(i * 7 % 11) - 5; }

  std::string run() {
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = Half::of(valueOf(i)).bits;
    }
    for (size_t i = 0; i < b.size(); ++i) {
      b[i] = Half::of(valueOf(i + 3)).bits;
    }
    Allocations memory;
    allow(memory, a);
    allow(memory, b);
    allow(memory, y);
    std::vector<unsigned char> parameters;
    addTo(parameters, mapOf(6, a, rows, rows, step, 1));
    addTo(parameters, mapOf(6, b, columns, columns, step, 1));
    addTo(parameters, y.data());
    addTo(parameters, (depth + step - 1) / step);
    return how(textOf("products.ptx", how.mark, how.becomes,
                      {{"STAGES", stages},
                       {"FULL", stages * slotBytes},
                       {"EMPTY", stages * slotBytes + 8}}),
               memory, 256, stages * (slotBytes + 16), parameters);
  }

  bool isRight() const {
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        int sum = 0;
        for (size_t k = 0; k < depth; ++k) {
          sum += valueOf(row * depth + k) * valueOf(column * depth + k + 3);
        }
        if (y[row * columns + column] != float(sum)) {
          return false;
        }
      }
    }
    return true;
  }
};

TEST(Pipeline, IsRightInEveryOrder) {
  for (uint32_t stages = 2; stages <= 5; ++stages) {
    for (uint32_t groups : {1, 2}) {
      for (AsyncOrder order : {AsyncOrder::Late, AsyncOrder::Early}) {
        for (uint64_t seed : {0, 1, 2, 3}) {
          Pipeline pipeline{.stages = stages, .groups = groups};
          pipeline.how.asyncOrder = order;
          pipeline.how.seed = seed;
          ASSERT_EQ(pipeline.run(), "")
              << stages << " stages, " << groups << " groups, seed " << seed;
          EXPECT_TRUE(pipeline.isRight());
        }
      }
    }
  }
}

/// Every number of stages and groups tells the mistake.
void expectTold(const std::string &mark, const std::string &becomes,
                const testing::Matcher<const std::string &> &told) {
  for (uint32_t stages = 2; stages <= 5; ++stages) {
    for (uint32_t groups : {1, 2}) {
      Pipeline pipeline{.stages = stages, .groups = groups};
      pipeline.how.mark = mark;
      pipeline.how.becomes = becomes;
      EXPECT_THAT(pipeline.run(), told)
          << mark << ", " << stages << " stages, " << groups << " groups";
    }
  }
}

TEST(Pipeline, BarriersThatAreNotMade) {
  expectTold("init", "", HasSubstr("is not there: mbarrier.init has not run"));
}

TEST(Pipeline, BarriersThatOthersMayNotSee) {
  expectTold("start", "",
             AnyOf(HasSubstr("has made without a barrier between"),
                   HasSubstr("is not there: mbarrier.init has not run")));
}

TEST(Pipeline, BarriersThatTheEngineMayNotSee) {
  expectTold("init-fence", "",
             HasSubstr("the copy engine may not see the barrier at"));
}

TEST(Pipeline, SlotsThatAreFilledWithoutAWait) {
  expectTold("empty-wait", "", HasSubstr("an arrival at the barrier at 0x"));
}

TEST(Pipeline, SlotsThatAreReadWithoutAWait) {
  expectTold("full-wait", "",
             AnyOf(HasSubstr("into which a copy still writes"),
                   HasSubstr("has not been waited for")));
}

TEST(Pipeline, SlotsThatAreNotGivenBack) {
  expectTold("arrive", "", HasSubstr("deadlock: warps wait for warps"));
}

TEST(Pipeline, SlotsThatAreGivenBackTwice) {
  expectTold("arrive", "mbarrier.arrive.shared::cta.b64 _, [%r9+{EMPTY}], 2;",
             AnyOf(HasSubstr("2 arrivals at the barrier at"),
                   HasSubstr("deadlock"),
                   HasSubstr("has read without a barrier between"),
                   HasSubstr("into which a copy still writes")));
}

TEST(Pipeline, FewerBytesThanLand) {
  expectTold("expect",
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9+{FULL}], "
             "1024;",
             HasSubstr("1024 bytes more have landed than it expects"));
}

TEST(Pipeline, MoreBytesThanLand) {
  expectTold("expect",
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9+{FULL}], "
             "4096;",
             HasSubstr("phase 0 lacks 0 of 1 arrivals and 2048 bytes"));
}

TEST(Pipeline, NoBytesExpected) {
  expectTold("expect", "", HasSubstr("deadlock"));
}

TEST(Pipeline, NoCopy) {
  expectTold("load", "",
             HasSubstr("phase 0 lacks 0 of 1 arrivals and 2048 bytes"));
}

TEST(Pipeline, AConsumerOfTheWrongParity) {
  expectTold("consumer-parity", "mov.u32 %r8, 1;",
             AnyOf(HasSubstr("into which a copy still writes"),
                   HasSubstr("has not been waited for")));
}

TEST(Pipeline, AProducerOfTheWrongParity) {
  expectTold("producer-parity", "mov.u32 %r8, 0;", HasSubstr("deadlock"));
}

TEST(Pipeline, NoFenceForTheEngine) {
  expectTold("fence", "", HasSubstr("without fence.proxy.async afterwards"));
}

TEST(Pipeline, ResultsThatAreSentBeforeAllAreThere) {
  expectTold("group", "",
             AnyOf(HasSubstr("which a copy still reads"),
                   HasSubstr("without a barrier between")));
}

TEST(Pipeline, ResultsThatOverwriteThoseOnTheirWay) {
  expectTold("reuse-wait", "", HasSubstr("which a copy still reads"));
}

TEST(Pipeline, ResultsThatOtherWarpsOverwrite) {
  expectTold("reuse", "",
             AnyOf(HasSubstr("which a copy still reads"),
                   HasSubstr("without a barrier between")));
}

TEST(Pipeline, ABlockThatEndsBeforeItsCopies) {
  expectTold("last-wait", "",
             HasSubstr("cp.async.bulk.wait_group has not waited for the copy, "
                       "which may still read when its block ends"));
}

TEST(Pipeline, CopiesOfNoGroup) {
  expectTold("commit", "",
             AnyOf(HasSubstr("which a copy still reads"),
                   HasSubstr("has not waited for the copy")));
}

TEST(Pipeline, RegistersThatNobodyGivesBack) {
  expectTold("registers", "setmaxnreg.inc.sync.aligned.u32 256;",
             HasSubstr("which waits for registers"));
}

TEST(Pipeline, AWarpgroupThatDoesNotAgreeOnItsRegisters) {
  expectTold("registers",
             "and.b32 %r30, %r0, 32; setp.eq.u32 %p10, %r30, 0; @%p10 "
             "setmaxnreg.inc.sync.aligned.u32 160;",
             HasSubstr("of one warpgroup have not run the same setmaxnreg"));
}

TEST(Pipeline, ADeadlockTellsWhereEachWarpIs) {
  Pipeline pipeline{.stages = 2, .groups = 1};
  pipeline.how.mark = "arrive";
  std::string told = pipeline.run();
  EXPECT_THAT(told, HasSubstr("  warp 0:"));
  EXPECT_THAT(told, HasSubstr("waits for the barrier at 0x1808: its phase 0 "
                              "lacks 1 of 1 arrivals"));
  EXPECT_THAT(told, HasSubstr("  warp 4:"));
  EXPECT_THAT(told, HasSubstr("waits for the barrier at 0x1800: its phase 1 "
                              "lacks 1 of 1 arrivals"));
  EXPECT_THAT(told, HasSubstr("mbarrier.try_wait.parity.shared::cta.b64 %p6"));
}

/// What comes too late without a check for races shows in the result.
TEST(Pipeline, AMissingWaitChangesTheResult) {
  Pipeline pipeline{.stages = 3, .groups = 2};
  pipeline.how.mark = "full-wait";
  pipeline.how.checksRaces = false;
  pipeline.run();
  EXPECT_FALSE(pipeline.isRight());
}

//===----------------------------------------------------------------------===//
// Products of what the engine brings
//===----------------------------------------------------------------------===//

TEST(PipelineOfProducts, IsRightInEveryOrder) {
  for (uint32_t stages = 2; stages <= 5; ++stages) {
    for (AsyncOrder order : {AsyncOrder::Late, AsyncOrder::Early}) {
      for (uint64_t seed : {0, 1, 2}) {
        Products products{.stages = stages};
        products.how.asyncOrder = order;
        products.how.seed = seed;
        ASSERT_EQ(products.run(), "") << stages << " stages, seed " << seed;
        EXPECT_TRUE(products.isRight());
      }
    }
  }
}

void expectToldOfProducts(const std::string &mark, const std::string &becomes,
                          const testing::Matcher<const std::string &> &told) {
  for (uint32_t stages = 2; stages <= 5; ++stages) {
    Products products{.stages = stages};
    products.how.mark = mark;
    products.how.becomes = becomes;
    EXPECT_THAT(products.run(), told) << mark << ", " << stages << " stages";
  }
}

TEST(PipelineOfProducts, SlotsThatAreReadWithoutAWait) {
  expectToldOfProducts("full-wait", "",
                       HasSubstr("a product of warp 4 reads byte 0 of shared "
                                 "memory, into which a copy still writes"));
}

TEST(PipelineOfProducts, SlotsThatAreFilledWithoutAWait) {
  expectToldOfProducts("empty-wait", "",
                       HasSubstr("an arrival at the barrier at 0x"));
}

TEST(PipelineOfProducts, SlotsThatAreGivenBackBeforeTheProductIsDone) {
  expectToldOfProducts("product-wait", "wgmma.wait_group.sync.aligned 2;",
                       AnyOf(HasSubstr("into which a copy still writes"),
                             HasSubstr("has not been waited for"),
                             HasSubstr("written over while the product was on "
                                       "its way")));
}

TEST(PipelineOfProducts, FewerBytesThanLand) {
  expectToldOfProducts(
      "expect",
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9+{FULL}], 2048;",
      testing::Not(testing::Eq("")));
}

} // namespace
