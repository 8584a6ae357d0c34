//===- CopyTest.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/CopyOnDevice.h"
#include "kernels/testing/OperatorTest.h"

using namespace nereid;
using namespace nereid::kernels;

NEREID_OPERATOR_TEST(Copies);

TEST_P(Copies, areAsTensors) {
  forCases(
      [&] {
        auto type = [&] {
          return oneOf({i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16,
                        f32, f64, fp8e4nv, fp8e5});
        };
        DType from = type(), to = coin() ? from : type();
        Shape shape;
        for (int i = int(pick(1, 4)); i > 0; --i) {
          shape.push_back(pick(1, isSlow ? 5 : 30));
        }
        Tensor values = random(shape, f32, 100).to(Device::cpu()).to(from);
        Tensor source = laidOut(values),
               target = laidOut(zeros(shape, to, Device::cpu()));
        bool copied = copyOnDevice(target, source);
        EXPECT_TRUE(copied || from != to) << source.str();
        if (copied) {
          Tensor got = target.to(Device::cpu()).contiguous();
          Tensor expected = values.to(to).contiguous();
          std::string a(static_cast<const char *>(got.data()),
                        size_t(got.bytes())),
              b(static_cast<const char *>(expected.data()),
                size_t(got.bytes()));
          EXPECT_TRUE(a == b) << source.str() << " to " << target.str();
        }
      },
      12);
}
