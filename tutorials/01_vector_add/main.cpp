//===- main.cpp - Lesson 1: a vector add -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole path once: a kernel in a .py file, tensors, a launch, the result -
// and what a launch costs the first time and afterwards. Start with
// vector_add.py beside this file, then come back.
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals; // "BLOCK"_a = 1024

int main(int argc, char **argv) try {
  lesson::checkOptions(argc, argv, {"--device", "--n", "--repeats"});
  // "cpu" compiles for this machine and runs on all its cores. "interp" is the
  // reference executor: slow, but so simple that you can believe it.
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t n = lesson::option(argc, argv, "--n", int64_t{1} << 24);
  int64_t repeats = lesson::option(argc, argv, "--repeats", 50);

  // 1. Data. A Tensor is a typed, strided array on a device; the random numbers
  //    depend on the seed only, never on the number of threads.
  Tensor x = randn({n}, f32, device, /*seed=*/1);
  Tensor y = randn({n}, f32, device, /*seed=*/2);
  Tensor z = emptyLike(x);

  // 2. The kernel. Loading parses the file; nothing is compiled yet, because
  //    what to compile depends on the arguments' types and on BLOCK.
  Kernel add = Kernel::load(LESSON_DIR "/vector_add.py", "add_kernel");

  // 3. The launch: how many programs between the brackets, their arguments
  //    between the parentheses. cdiv rounds up, so that the last, partly filled
  //    block gets a program too. BLOCK is a tl.constexpr parameter: it becomes
  //    part of the code. (Kept large here: one program per core at a time needs
  //    enough work to be worth handing out.)
  constexpr int64_t block = 16384;
  auto start = std::chrono::steady_clock::now();
  add[{cdiv(n, block)}](x, y, z, n, "BLOCK"_a = block);
  synchronize(device); // a GPU is still at it
  std::chrono::duration<double, std::milli> first =
      std::chrono::steady_clock::now() - start;

  // 4. The result, against the same sum in plain C++. Adding two floats rounds
  //    once, the same way everywhere: no difference is allowed at all.
  std::vector<float> a = x.toVector<float>(), b = y.toVector<float>();
  std::vector<double> expected(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    expected[i] = a[i] + b[i];
  }
  double difference = lesson::maxDifference(z, expected);
  std::printf("max diff %g\n", difference);

  // 5. What it costs. The first launch compiled (or found the image in the
  //    cache on disk: run this program twice). Later ones look the image up and
  //    go. An add reads two numbers and writes one for a single addition, so
  //    it is the memory that sets the speed: count bytes, not operations.
  //    The grid may also be a function of the launch's arguments, as it would
  //    be in Python: lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
  auto grid = [&](const Meta &meta) { return Grid{cdiv(n, meta["BLOCK"])}; };
  double steady = lesson::medianMilliseconds(
      device, repeats, [&] { add[grid](x, y, z, n, "BLOCK"_a = block); });
  double gigabytes = 3.0 * x.bytes() * 1e-9;
  std::printf("first launch %8.3f ms (with compiling)\n"
              "later ones   %8.3f ms = %.1f GB/s\n",
              first.count(), steady, gigabytes / (steady * 1e-3));

  // 6. A mistake. Every error of the public API is one exception type that says
  //    what was expected, what was given, and what to do about it.
  try {
    add[{1}](x, y, n, "BLOCK"_a = block);
  } catch (const Error &error) {
    std::printf("\nWithout z_ptr:\n%s\n", error.what());
  }
  return lesson::verdict(difference, 0);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
