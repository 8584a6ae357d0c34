//===- CudaTensorTest.cpp - Tensors of a GPU ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fake driver closes device memory to the host, so that a test that ends at
// all shows that nothing read it directly.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/testing/CudaFixture.h"

#include "nereid/Runtime/DLPack.h"
#include "nereid/Runtime/Npy.h"
#include "nereid/Support/Files.h"

#include <numeric>
#include <unistd.h>

using namespace nereid;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
class CudaTensors : public CudaFixture {};
} // namespace

TEST_F(CudaTensors, MakersGiveWhatTheHostGives) {
  const Device cpu = Device::cpu();
  EXPECT_THAT(zeros({5}, f32, gpu).toVector<float>(), Each(0));
  EXPECT_THAT(full({5}, 1.5, f16, gpu).toVector<float>(), Each(1.5f));
  EXPECT_THAT(full({5}, -3, i64, gpu).toVector<int64_t>(), Each(-3));
  EXPECT_THAT(full({5}, 7, i64, gpu).toVector<int64_t>(), Each(7));
  EXPECT_THAT(full({5}, 0.1, f64, gpu).toVector<double>(), Each(0.1));
  EXPECT_THAT(full({5}, 1, i1, gpu).toVector<bool>(), Each(true));
  EXPECT_EQ(arange({3, 5}, i32, gpu, 2, 3).toVector<int>(),
            arange({3, 5}, i32, cpu, 2, 3).toVector<int>());
  EXPECT_EQ(randn({1001}, bf16, gpu, 7).toVector<float>(),
            randn({1001}, bf16, cpu, 7).toVector<float>());
  EXPECT_EQ(rand({77}, f64, gpu, 7).toVector<double>(),
            rand({77}, f64, cpu, 7).toVector<double>());
  EXPECT_EQ(randint({77}, -5, 5, i8, gpu, 7).toVector<int>(),
            randint({77}, -5, 5, i8, cpu, 7).toVector<int>());
  Tensor x = Tensor::fromVector<int>({1, 2, 3, 4}, Shape{2, 2}, gpu);
  EXPECT_EQ(x.device(), gpu);
  EXPECT_EQ(x.at({1, 0}), 3);
  EXPECT_EQ(emptyLike(x).device(), gpu);
  EXPECT_EQ(zeros({0}, f32, gpu).toVector<float>().size(), 0u);
}

TEST_F(CudaTensors, CopiesOfEverySizeArrive) {
  // Below and above what goes through pinned memory, in one chunk and in many.
  for (int64_t n : {1, 1000, 20000, 1 << 20, (1 << 21) + 12345}) {
    Tensor x = arange({n}, i32, Device::cpu());
    Tensor y = x.to(gpu);
    Tensor z = y.clone();
    y.zero();
    EXPECT_EQ(z.toVector<int>(), x.toVector<int>()) << n;
  }
}

TEST_F(CudaTensors, TheSourceOfAnUploadMayBeChanged) {
  Tensor x = full({1 << 20}, 1, f32, Device::cpu());
  Tensor y = x.to(gpu);
  x.fill(2);
  EXPECT_THAT(y.toVector<float>(), Each(1));
}

/// Every way of laying a 4x6 matrix out.
static std::vector<Tensor> layouts(DType dtype, Device device) {
  return {zeros({4, 6}, dtype, device),
          zeros({6, 4}, dtype, device).transpose(0, 1),
          zeros({4, 20}, dtype, device).slice(1, 3, 9),
          zeros({4, 20}, dtype, device).slice(1, 1, 19, 3),
          zeros({2, 4, 6}, dtype, device).select(0, 1)};
}

TEST_F(CudaTensors, CopyFromKnowsAllDevicesStridesAndDTypes) {
  const Device devices[] = {Device::cpu(), gpu, other};
  std::vector<double> expected(24);
  std::iota(expected.begin(), expected.end(), 1);
  Tensor values = Tensor::fromVector(expected, Shape{4, 6}, Device::cpu());
  for (Device a : devices) {
    for (Device b : devices) {
      for (DType from : {f32, i16}) {
        for (DType to : {f32, i16}) {
          for (const Tensor &source : layouts(from, a)) {
            source.copyFrom(values);
            for (const Tensor &destination : layouts(to, b)) {
              destination.copyFrom(source);
              ASSERT_EQ(destination.toFloat64(), expected)
                  << source.str() << " on " << a.str() << " to "
                  << destination.str() << " on " << b.str();
            }
          }
        }
      }
    }
  }
}

TEST_F(CudaTensors, StridedDestinationsKeepWhatLiesBetween) {
  Tensor x = arange({4, 4}, i32, gpu);
  x.slice(1, 1, 4, 2).fill(-1);
  EXPECT_THAT(x.toVector<int>(), ElementsAre(0, -1, 2, -1, 4, -1, 6, -1, 8, -1,
                                             10, -1, 12, -1, 14, -1));
  x.slice(1, 0, 1).copyFrom(full({1}, 5, f64, Device::cpu()));
  EXPECT_EQ(x.select(1, 0).toVector<int>(), std::vector<int>(4, 5));
  EXPECT_EQ(x.at({3, 2}), 14);
}

TEST_F(CudaTensors, OverlappingCopiesAreAsIfAtOnce) {
  Tensor x = arange({10}, i32, gpu);
  x.slice(0, 1, 10).copyFrom(x.slice(0, 0, 9));
  EXPECT_THAT(x.toVector<int>(), ElementsAre(0, 0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(CudaTensors, ConvertMoveAndReshape) {
  Tensor x = arange({2, 3}, f32, gpu);
  Tensor half = x.to(f16);
  EXPECT_EQ(half.device(), gpu);
  EXPECT_EQ(half.to(other).device(), other);
  EXPECT_EQ(half.to(other).toVector<float>(), x.toVector<float>());
  EXPECT_GE(calls("cuMemcpyPeerAsync"), 1);
  Tensor t = x.transpose(0, 1).contiguous();
  EXPECT_TRUE(t.isContiguous());
  EXPECT_THAT(t.toVector<int>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(x.transpose(0, 1).reshape({6}).toVector<int>(),
              ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(x.slice(1, 2).select(0, 1).item(), 5);
  EXPECT_EQ(x.to(Device::interp()).device(), Device::interp());
  EXPECT_TRUE(x.onHost().device().isHost());
}

TEST_F(CudaTensors, FilesAndDLPack) {
  std::string path = "/tmp/nereid-cuda-" + std::to_string(::getpid()) + ".npy";
  Tensor x = arange({3, 4}, f32, gpu);
  saveNpy(path, x.transpose(0, 1));
  Tensor back = loadNpy(path, std::nullopt, gpu);
  ::unlink(path.c_str());
  EXPECT_EQ(back.device(), gpu);
  EXPECT_EQ(back.toVector<float>(), x.transpose(0, 1).toVector<float>());

  dlpack::ManagedTensor *managed = toDLPack(x.to(other));
  EXPECT_EQ(managed->tensor.device.type, dlpack::DeviceCuda);
  EXPECT_EQ(managed->tensor.device.index, 1);
  Tensor imported = fromDLPack(managed);
  EXPECT_EQ(imported.device(), other);
  EXPECT_EQ(imported.toVector<float>(), x.toVector<float>());

  managed = toDLPack(x);
  managed->tensor.device.index = 5;
  EXPECT_THAT(errorOf([&] { fromDLPack(managed); }),
              HasSubstr("there are 2 cuda devices"));
  managed->deleter(managed);
}

//===----------------------------------------------------------------------===//
// The allocator
//===----------------------------------------------------------------------===//

TEST_F(CudaTensors, FreedMemoryIsUsedAgain) {
  void *first = empty({1000}, f32, gpu).data();
  int before = calls("cuMemAlloc_v2");
  EXPECT_EQ(empty({990}, f32, gpu).data(), first);
  EXPECT_EQ(calls("cuMemAlloc_v2"), before);
  MemoryUse use = memoryUse(gpu);
  EXPECT_EQ(use.used, 0u);
  EXPECT_GE(use.cached, 4000u);
  EXPECT_EQ(use.total, size_t{64} << 20);
  emptyCache(gpu);
  EXPECT_EQ(memoryUse(gpu).cached, 0u);
  EXPECT_EQ(memoryUse(gpu).free, use.total);
}

TEST_F(CudaTensors, OutOfMemoryEmptiesTheCacheFirst) {
  int64_t most = int64_t{40} << 20;
  empty({most}, u8, gpu);
  EXPECT_GE(memoryUse(gpu).cached, uint64_t{40} << 20);
  Tensor large = empty({most + (4 << 20) * 4}, u8, gpu); // fits without it
  EXPECT_EQ(memoryUse(gpu).cached, 0u);
  EXPECT_THAT(errorOf([&] { empty({most}, u8, gpu); }),
              HasSubstr("cuda:0: out of memory: 41943040 bytes wanted, 8388608 "
                        "of 67108864 bytes free; this process's tensors have "
                        "58720256"));
}

TEST_F(CudaTensors, AFailingCopyIsTold) {
  Tensor x = zeros({4}, f32, gpu);
  driver().failNext["cuMemcpyDtoHAsync_v2"] = 1;
  EXPECT_THAT(errorOf([&] { x.toVector<float>(); }),
              HasSubstr("cuda:0: copying from the device: CUDA_ERROR_OTHER"));
}
