//===- AttentionRolesTest.cpp - Warps that copy change no bit -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each kernel with roles of warps beside itself without, on the same blocks:
// the same sums in the same order. Which of the two a call takes is a matter of
// its size (AttentionPlan.cpp), and large sizes take long on a simulated GPU.
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

namespace {

struct RolesCase {
  int64_t headSize, queries, keys; ///< of a block
  int warps, stages;
  int64_t rows, columns; ///< queries and keys of a head
  bool isCausal;
};

class AttentionRoles : public OperatorTest {
protected:
  static constexpr int64_t batches = 1, heads = 2, kvHeads = 1;

  void make(const RolesCase &of) {
    q = randn({batches, heads, of.rows, of.headSize}, bf16, device, ++seed);
    k = randn({batches, kvHeads, of.columns, of.headSize}, bf16, device,
              ++seed);
    v = randn({batches, kvHeads, of.columns, of.headSize}, bf16, device,
              ++seed);
    dout = randn({batches, heads, of.rows, of.headSize}, bf16, device, ++seed);
    o = emptyLike(q);
    dq = emptyLike(q);
    lse = empty({batches, heads, of.rows}, f32, device);
    delta = randn({batches, heads, of.rows}, f32, device, ++seed);
  }

  void forward(const RolesCase &of, bool hasRoles) {
    static const OperatorKernel kernel("attention", "attention_kernel");
    poison(o);
    kernel[{batches * heads * cdiv(of.rows, of.queries)}](
        o, lse, q, k, v, o.stride(0), o.stride(1), o.stride(2), q.stride(0),
        q.stride(1), q.stride(2), q.stride(3), k.stride(0), k.stride(1),
        k.stride(2), k.stride(3), v.stride(0), v.stride(1), v.stride(2),
        v.stride(3), heads, heads / kvHeads, of.rows, of.columns,
        of.isCausal ? 1 : int64_t{1} << 29, 0, 0.125, 0, 0, 0.0, 1.0, none,
        none, none, none, none, "D"_a = of.headSize, "BLOCK_M"_a = of.queries,
        "BLOCK_N"_a = of.keys, "BOUNDED"_a = of.isCausal, "WINDOW"_a = false,
        "PRECISION"_a = "ieee", "DROPS"_a = false, "ROLES"_a = hasRoles,
        "num_warps"_a = of.warps, "num_stages"_a = of.stages);
  }

  void queriesBackward(const RolesCase &of, bool hasRoles) {
    static const OperatorKernel kernel("attention", "queries_backward_kernel");
    poison(dq);
    kernel[{batches * heads * cdiv(of.rows, of.queries)}](
        dq, q, k, v, dout, lse, delta, dq.stride(0), dq.stride(1), dq.stride(2),
        q.stride(0), q.stride(1), q.stride(2), q.stride(3), k.stride(0),
        k.stride(1), k.stride(2), k.stride(3), v.stride(0), v.stride(1),
        v.stride(2), v.stride(3), dout.stride(0), dout.stride(1),
        dout.stride(2), dout.stride(3), heads, heads / kvHeads, of.rows,
        of.columns, of.isCausal ? 1 : int64_t{1} << 29, 0, 0.125, 0.125, 0, 0,
        0.0, 1.0, none, none, none, none, none, none, "D"_a = of.headSize,
        "BLOCK_M"_a = of.queries, "BLOCK_N"_a = of.keys,
        "BOUNDED"_a = of.isCausal, "WINDOW"_a = false, "PRECISION"_a = "ieee",
        "DROPS"_a = false, "ROLES"_a = hasRoles, "num_warps"_a = of.warps,
        "num_stages"_a = of.stages);
  }

  static void poison(const Tensor &t) {
    t.fill(std::numeric_limits<double>::quiet_NaN());
  }

  uint64_t seed = 0;
  Tensor q, k, v, dout, o, dq, lse, delta; ///< as kernels want them
};

NEREID_ON_EVERY_DEVICE(AttentionRoles);

// Blocks of one group of warps and of two, which take turns; loops of no, one
// and several iterations, with keys past the end.
constexpr RolesCase cases[] = {{128, 128, 128, 8, 2, 130, 520, false},
                               {128, 128, 128, 8, 2, 40, 100, false},
                               {128, 128, 128, 8, 2, 300, 300, true},
                               {64, 64, 128, 4, 2, 70, 512, false},
                               {64, 64, 128, 4, 2, 70, 3, false},
                               {64, 64, 64, 4, 4, 200, 200, true}};

TEST_P(AttentionRoles, changeNoResult) {
  if (device.isHost() || !hasCompiler()) {
    GTEST_SKIP() << "warps are a GPU's, and no form ahead of time has roles";
  }
  for (const RolesCase &of : cases) {
    SCOPED_TRACE("D" + std::to_string(of.headSize) + ", " +
                 std::to_string(of.columns) + " keys");
    make(of);
    forward(of, false);
    std::vector<double> expected = o.toFloat64(), sums = lse.toFloat64();
    forward(of, true);
    EXPECT_EQ(o.toFloat64(), expected);
    EXPECT_EQ(lse.toFloat64(), sums);
  }
}

TEST_P(AttentionRoles, changeNoGradient) {
  if (device.isHost() || !hasCompiler()) {
    GTEST_SKIP() << "warps are a GPU's, and no form ahead of time has roles";
  }
  for (RolesCase of : cases) {
    of.keys = of.headSize == 128 ? 64 : of.keys;
    SCOPED_TRACE("D" + std::to_string(of.headSize) + ", " +
                 std::to_string(of.columns) + " keys");
    make(of);
    forward(of, false); // for the sums
    queriesBackward(of, false);
    std::vector<double> expected = dq.toFloat64();
    queriesBackward(of, true);
    EXPECT_EQ(dq.toFloat64(), expected);
  }
}

} // namespace
