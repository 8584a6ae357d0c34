//===- GpuCost.cpp - What compiling and launching cost on a GPU -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On cuda:0: source text to loaded kernel, cold and from the disk cache, in a
// process whose driver has assembled something before; the time in which a
// launch is enqueued, against the driver's own launch of a kernel with the same
// parameters in the same run; what recording adds to it; and a graph's replay,
// against the driver's.
//
//   NereidGpuCost [FOLDER OF kernels/]
//
// Exits with 1 when a budget is exceeded, with 77 where there is no GPU.
//
//===----------------------------------------------------------------------===//

#include "bench/Cost.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/nereid.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>

#include <dlfcn.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::literals;

namespace {

const Device gpu = Device::cuda(0);

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

struct Program {
  const char *what, *file, *kernel;
  double budget; ///< ms, cold
  /// Arguments refer to their tensors.
  std::function<std::vector<LaunchArgument>()> arguments;
};

double compile(const Program &program, const std::string &file,
               const std::string &kernel, const std::string &cache) {
  int64_t start = steadyClock()->now();
  Context context(createKernelCompiler(), coldOptions(cache));
  Kernel::load(file, kernel, context).compile(program.arguments());
  return millisecondsSince(start);
}

/// Of a kernel that was never compiled before: one of the same text under a
/// new name, which the driver's cache of machine code does not know either.
double compileCold(const Program &program, const std::string &folder,
                   const std::string &temporary) {
  static int count = 0;
  std::string kernel = std::string(program.kernel) + "_" +
                       std::to_string(::getpid()) + "_" +
                       std::to_string(++count);
  std::ifstream in(folder + "/" + program.file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string name = std::string("def ") + program.kernel + "(";
  text.replace(text.find(name), name.size(), "def " + kernel + "(");
  std::string file = temporary + "/" + kernel + ".py";
  std::ofstream(file) << text;
  return compile(program, file, kernel, "");
}

std::vector<Program> programs() {
  static Tensor x = zeros({1 << 16}, f32, gpu), h = zeros({1 << 16}, f16, gpu),
                row = zeros({4096}, f32, gpu);
  using Arguments = std::vector<LaunchArgument>;
  return {
      {"vector add", "vector_add/vector_add.py", "add_kernel", 40,
       [] { return Arguments{x, x, x, 1 << 16, "BLOCK"_a = 1024}; }},
      {"layer norm, 768 columns", "layer_norm/layer_norm.py",
       "layer_norm_kernel", 80,
       [] {
         return Arguments{h,   h,   row, row,  row,
                          row, 768, 768, 1e-5, "N"_a = 768};
       }},
      {"matrix product, 128x256x64, 8 warps", "matmul/matmul.py",
       "matmul_kernel", 200,
       [] {
         return Arguments{h,
                          h,
                          h,
                          256,
                          256,
                          256,
                          256,
                          1,
                          256,
                          1,
                          256,
                          1,
                          "BLOCK_M"_a = 128,
                          "BLOCK_N"_a = 256,
                          "BLOCK_K"_a = 64,
                          "num_warps"_a = 8};
       }},
  };
}

void compiling(const std::string &folder, CostTable &table) {
  std::vector<Program> list = programs();
  std::string cache = std::filesystem::temp_directory_path() /
                      ("nereid-gpu-cost-" + std::to_string(::getpid()));
  std::filesystem::create_directory(cache);
  compileCold(list[0], folder, cache); // the driver's assembler starts once
  for (const Program &program : list) {
    table.add(std::string(program.what) + ", source to loaded, cold",
              median(7, [&] { return compileCold(program, folder, cache); }),
              "ms", program.budget);
    auto again = [&] {
      return compile(program, folder + "/" + program.file, program.kernel,
                     cache);
    };
    again();
    table.add("the same, from the disk cache", median(9, again), "ms", 5);
  }
  std::filesystem::remove_all(cache);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// The driver's own launch of a vector add.
class BareDriver {
public:
  BareDriver(const Tensor &a, const Tensor &b, const Tensor &sum)
      : x(addressOf(a)), y(addressOf(b)), z(addressOf(sum)),
        n(static_cast<uint32_t>(a.numel())) {
    const char *driver = std::getenv("NEREID_CUDA_DRIVER");
    library = dlopen(driver ? driver : "libcuda.so.1", RTLD_NOW);
    load(moduleLoadData, "cuModuleLoadData");
    load(moduleGetFunction, "cuModuleGetFunction");
    load(launchKernel, "cuLaunchKernel");
    void *module = nullptr;
    if (moduleLoadData(&module, ptx) ||
        moduleGetFunction(&function, module, "bare")) {
      throw std::runtime_error("the driver does not take the bare kernel");
    }
  }
  void launch(void *stream) {
    launchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, slots, nullptr);
  }

  /// `nodes` launches, captured and instantiated by the driver alone; `replay`
  /// enqueues them.
  void capture(void *stream, int nodes) {
    int (*begin)(void *, int) = nullptr;
    int (*end)(void *, void **) = nullptr;
    int (*instantiate)(void **, void *, unsigned long long) = nullptr;
    load(begin, "cuStreamBeginCapture_v2");
    load(end, "cuStreamEndCapture");
    load(instantiate, "cuGraphInstantiateWithFlags");
    load(graphLaunch, "cuGraphLaunch");
    void *captured = nullptr;
    constexpr int threadLocal = 1;
    bool isWrong = begin(stream, threadLocal);
    for (int i = 0; i < nodes; ++i) {
      launch(stream);
    }
    if (isWrong || end(stream, &captured) || instantiate(&graph, captured, 0)) {
      throw std::runtime_error("the driver does not capture the bare kernel");
    }
  }
  void replay(void *stream) { graphLaunch(graph, stream); }

private:
  static uint64_t addressOf(const Tensor &tensor) {
    return reinterpret_cast<uint64_t>(tensor.data());
  }
  template <typename F>
  void load(F &f, const char *name) {
    f = reinterpret_cast<F>(dlsym(library, name));
  }
  /// Eight elements a thread, in vectors, as Nereid's kernel takes them.
  static constexpr const char *ptx = R"(.version 6.5
.target sm_75
.address_size 64
.visible .entry bare(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n)
{
  .reg .u32 %i, %n;
  .reg .u64 %x, %y, %z, %o;
  .reg .f32 %a<8>, %b<8>;
  .reg .pred %p;
  mov.u32 %i, %tid.x;
  shl.b32 %i, %i, 3;
  ld.param.u32 %n, [n];
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  ld.param.u64 %z, [z];
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %o, %i, 4;
  add.u64 %x, %x, %o;
  add.u64 %y, %y, %o;
  add.u64 %z, %z, %o;
  ld.global.v4.f32 {%a0, %a1, %a2, %a3}, [%x];
  ld.global.v4.f32 {%a4, %a5, %a6, %a7}, [%x+16];
  ld.global.v4.f32 {%b0, %b1, %b2, %b3}, [%y];
  ld.global.v4.f32 {%b4, %b5, %b6, %b7}, [%y+16];
  add.f32 %a0, %a0, %b0;
  add.f32 %a1, %a1, %b1;
  add.f32 %a2, %a2, %b2;
  add.f32 %a3, %a3, %b3;
  add.f32 %a4, %a4, %b4;
  add.f32 %a5, %a5, %b5;
  add.f32 %a6, %a6, %b6;
  add.f32 %a7, %a7, %b7;
  st.global.v4.f32 [%z], {%a0, %a1, %a2, %a3};
  st.global.v4.f32 [%z+16], {%a4, %a5, %a6, %a7};
  ret;
}
)";
  void *library = nullptr, *function = nullptr, *graph = nullptr;
  int (*moduleLoadData)(void **, const void *) = nullptr;
  int (*moduleGetFunction)(void **, void *, const char *) = nullptr;
  int (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, void *, void **, void **) = nullptr;
  int (*graphLaunch)(void *, void *) = nullptr;
  uint64_t x, y, z;
  uint32_t n;
  void *slots[4] = {&x, &y, &z, &n};
};

void launching(const std::string &folder, CostTable &table) {
  Context context(createKernelCompiler());
  Kernel add =
      Kernel::load(folder + "/vector_add/vector_add.py", "add_kernel", context);
  Tensor x = zeros({1000}, f32, gpu), y = zeros({1000}, f32, gpu),
         z = zeros({1000}, f32, gpu);
  auto launch = [&] { add[{1}](x, y, z, 1000, "BLOCK"_a = 1024); };
  launch();
  synchronize(gpu);
  BareDriver bare(x, y, z);
  Stream stream(gpu);
  StreamGuard guard(stream);
  // Fewer than the driver queues, so that none waits for the device.
  constexpr int count = 500;
  auto microseconds = [&](const std::function<void()> &one) {
    int64_t start = steadyClock()->now();
    for (int i = 0; i < count; ++i) {
      one();
    }
    double us = millisecondsSince(start) * 1e3 / count;
    stream.synchronize();
    return us;
  };
  std::vector<double> ours, theirs, more;
  for (int i = 0; i < 101; ++i) {
    theirs.push_back(microseconds([&] { bare.launch(stream.handle()); }));
    ours.push_back(microseconds(launch));
    more.push_back(ours.back() - theirs.back());
  }
  std::printf("| a launch of the driver's own: %.2f us; Nereid's: %.2f us\n",
              median(theirs), median(ours));
  table.add("a warm launch, more than the driver's", median(more), "us", 0.3);

  // With what CUPTI, or the events, take for themselves.
  Profiler profiler;
  profiler.start();
  launch(); // loads CUPTI
  stream.synchronize();
  std::vector<double> recorded;
  for (int i = 0; i < 101; ++i) {
    recorded.push_back(microseconds(launch));
  }
  profiler.stop();
  for (const std::string &note : profiler.notes()) {
    std::printf("| %s\n", note.c_str());
  }
  table.add("a launch that is recorded, more than one that is not",
            median(recorded) - median(ours), "us", 1);

  constexpr int nodes = 1000;
  Graph graph = Graph::capture(gpu, [&] {
    for (int i = 0; i < nodes; ++i) {
      launch();
    }
  });
  bare.capture(stream.handle(), nodes);
  /// Microseconds a node until a replay has been enqueued, and until it has
  /// run.
  auto replayed = [&](const std::function<void()> &replay) {
    int64_t start = steadyClock()->now();
    replay();
    double enqueued = millisecondsSince(start) * 1e3 / nodes;
    stream.synchronize();
    return std::pair(enqueued, millisecondsSince(start) * 1e3 / nodes);
  };
  std::vector<double> enqueued, ran, barelyEnqueued, barelyRan, moreRun;
  for (int i = -1; i < 51; ++i) {
    auto bareTimes = replayed([&] { bare.replay(stream.handle()); });
    auto times = replayed([&] { graph.replay(); });
    if (i < 0) {
      continue; // the first replay of a graph uploads it
    }
    barelyEnqueued.push_back(bareTimes.first);
    barelyRan.push_back(bareTimes.second);
    enqueued.push_back(times.first);
    ran.push_back(times.second);
    moreRun.push_back(times.second - bareTimes.second);
  }
  std::printf("| a node of the driver's own graph: %.3f us enqueued, %.2f us "
              "until it has run; of Nereid's: %.3f and %.2f\n",
              median(barelyEnqueued), median(barelyRan), median(enqueued),
              median(ran));
  table.add("a graph's node, enqueued", median(enqueued), "us", 0.5);
  table.add("until it has run, more than the driver's own", median(moreRun),
            "us", 0.1);
}

} // namespace

int main(int argc, char **argv) try {
  if (!Device::tryParse("cuda:0").ok()) {
    std::printf("skipped: no GPU that Nereid can use\n");
    return 77;
  }
  std::string folder = argc > 1 ? argv[1] : "kernels";
  CostTable table;
  compiling(folder, table);
  launching(folder, table);
  return table.isExceeded();
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
