//===- DLPackTest.cpp - Exchanging tensors without copies -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/DLPack.h"

#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(DLPack, EveryDTypeGoesOutAndComesBackSharingMemory) {
  for (int i = 0; i < numDTypes; ++i) {
    auto dtype = static_cast<DType>(i);
    Tensor t = zeros({4, 6}, dtype).transpose(0, 1).slice(0, 2);
    Tensor a = fromDLPack(toDLPack(t));
    Tensor b = fromDLPack(toDLPackVersioned(t));
    for (const Tensor &back : {a, b}) {
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), t.shape());
      EXPECT_EQ(back.strides(), t.strides());
      EXPECT_EQ(back.data(), t.data());
    }
    a.fill(1);
    EXPECT_EQ(t.at({0, 0}), 1);
  }
}

TEST(DLPack, FieldsAreThoseOfTheAbi) {
  Tensor t = zeros({2, 3}, bf16);
  dlpack::ManagedTensorVersioned *m = toDLPackVersioned(t);
  EXPECT_EQ(m->version.major, 1u);
  EXPECT_EQ(m->tensor.device.type, 1);
  EXPECT_EQ(m->tensor.dtype.code, 4); // kDLBfloat
  EXPECT_EQ(m->tensor.dtype.bits, 16);
  EXPECT_EQ(m->tensor.dtype.lanes, 1);
  EXPECT_EQ(m->tensor.rank, 2);
  EXPECT_EQ(m->tensor.strides[0], 3);
  m->deleter(m);
  dlpack::ManagedTensor *b = toDLPack(zeros({1}, i1));
  EXPECT_EQ(b->tensor.dtype.code, 6); // kDLBool
  EXPECT_EQ(b->tensor.dtype.bits, 8);
  b->deleter(b);
}

TEST(DLPack, TheTensorLivesAsLongAsTheConsumerHoldsIt) {
  dlpack::ManagedTensor *m;
  {
    Tensor t = arange({100000}, i32);
    m = toDLPack(t);
  }
  EXPECT_EQ(static_cast<int *>(m->tensor.data)[99999], 99999);
  m->deleter(m);
}

namespace {
/// A producer that counts deletions.
struct Producer {
  dlpack::ManagedTensor managed{};
  std::vector<int64_t> shape{2, 2};
  std::vector<float> data{0, 1, 2, 3};
  int deleted = 0;

  Producer() {
    managed.context = this;
    managed.deleter = [](dlpack::ManagedTensor *m) {
      ++static_cast<Producer *>(m->context)->deleted;
    };
    managed.tensor = {data.data(),  {1, 0},  2, {2, 32, 1},
                      shape.data(), nullptr, 0};
  }
};
} // namespace

TEST(DLPack, TheDeleterRunsOnceWithTheLastView) {
  Producer producer;
  {
    Tensor view;
    {
      Tensor t = fromDLPack(&producer.managed);
      EXPECT_THAT(t.toVector<float>(), ElementsAre(0, 1, 2, 3));
      view = t.select(0, 1);
    }
    EXPECT_EQ(producer.deleted, 0);
  }
  EXPECT_EQ(producer.deleted, 1);
}

TEST(DLPack, OffsetsAndNullStrides) {
  Producer producer;
  producer.shape = {1, 2};
  producer.managed.tensor.byteOffset = 8;
  EXPECT_THAT(fromDLPack(&producer.managed).toVector<float>(),
              ElementsAre(2, 3));
}

TEST(DLPack, WhatCannotBeReadIsRefusedAndNotConsumed) {
  Producer producer;
  auto &tensor = producer.managed.tensor;
  auto errorOf = [&] {
    try {
      fromDLPack(&producer.managed);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  tensor.device.type = 4;
  EXPECT_THAT(errorOf(), HasSubstr("device type 4"));
  tensor.device.type = 2;
  EXPECT_THAT(errorOf(), HasSubstr("no device 'cuda:0'"));
  tensor.device.type = 1;
  tensor.dtype = {5, 64, 1};
  EXPECT_THAT(errorOf(), HasSubstr("type code 5"));
  tensor.dtype = {2, 32, 4};
  EXPECT_THAT(errorOf(), HasSubstr("4 lanes"));
  tensor.dtype = {2, 32, 1};
  std::vector<int64_t> strides = {-2, 1};
  tensor.strides = strides.data();
  EXPECT_THAT(errorOf(), HasSubstr("negative strides"));
  dlpack::ManagedTensorVersioned future{};
  future.version.major = 2;
  EXPECT_THROW(fromDLPack(&future), Error);
  EXPECT_EQ(producer.deleted, 0);
}
