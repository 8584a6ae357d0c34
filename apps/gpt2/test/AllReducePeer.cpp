//===- AllReducePeer.cpp - Sums over processes, beside Gloo alone ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   build/bin/AllReducePeer [--at-most=1.1]
//
// Sums 84 MB of fp32, the gradients of 21 M parameters, over 2 and 4 processes:
// by a Communicator, and by Gloo's ring as its own benchmark calls it, in
// turns, on the same memory. Prints the medians. Status 1 where a ratio is
// larger than
// --at-most.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Communicator.h"
#include "apps/gpt2/distributed/Launcher.h"

#include "nereid/Bench/Statistics.h"
#include "nereid/Runtime/Error.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

using namespace nereid;
using namespace nereid::gpt2;

static std::shared_ptr<gloo::rendezvous::Context>
connectGloo(const Processes &processes, const std::string &folder) {
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(processes.rank,
                                                             processes.size);
  context->connectFullMesh(store, device);
  return context;
}

/// Of process 0: the line of the table. Returns the ratio.
static double measure(const std::string &folder) {
  Processes processes = processesFromEnvironment();
  std::unique_ptr<Communicator> all =
      makeCommunicator(processes, Device::cpu());
  auto context = connectGloo(processes, folder);
  constexpr int64_t count = 21'000'000;
  Tensor tensor = zeros({count}, f32, Device::cpu());
  auto *data = static_cast<float *>(tensor.data());
  auto millisecondsOf = [&](const std::function<void()> &work) {
    all->barrier();
    auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now() - begin)
        .count();
  };
  std::vector<double> ours, theirs;
  constexpr int rounds = 21;
  for (int i = 0; i <= rounds; ++i) {
    double one = millisecondsOf([&] {
      all->allReduce(tensor);
      all->join();
    });
    double other = millisecondsOf([&] {
      gloo::AllreduceOptions options(context);
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      options.setOutput(data, size_t(count));
      options.setReduceFunction(
          static_cast<void (*)(void *, const void *, const void *, size_t)>(
              &gloo::sum<float>));
      gloo::allreduce(options);
    });
    if (i > 0) {
      ours.push_back(one);
      theirs.push_back(other);
    }
  }
  all->barrier();
  double ratio =
      bench::summarize(ours).median / bench::summarize(theirs).median;
  if (processes.rank == 0) {
    std::printf("| %d | %.1f | %.1f | %.3f |\n", processes.size,
                bench::summarize(theirs).median, bench::summarize(ours).median,
                ratio);
  }
  return processes.rank == 0 ? ratio : 0;
}

int main(int argc, char **argv) {
  double most = 1e9;
  std::string folder;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("--at-most=")) {
      most = std::strtod(argument.c_str() + argument.find('=') + 1, nullptr);
    } else if (argument.starts_with("--folder=")) {
      folder = argument.substr(argument.find('=') + 1);
    } else {
      std::fprintf(stderr, "usage: AllReducePeer [--at-most=RATIO]\n");
      return 2;
    }
  }
  try {
    if (isLaunched()) {
      return measure(folder) > most ? 1 : 0;
    }
    std::printf("84 MB of fp32 summed over processes of one machine, medians "
                "of 21 rounds\n\n"
                "| processes | Gloo, ms | Communicator, ms | ratio |\n"
                "|--:|--:|--:|--:|\n");
    std::fflush(stdout);
    int status = 0;
    for (int size : {2, 4}) {
      std::string name =
          (std::filesystem::temp_directory_path() / "all-reduce-XXXXXX")
              .string();
      if (!mkdtemp(name.data())) {
        std::perror("AllReducePeer");
        return 1;
      }
      int result =
          launch({"",
                  {"--folder=" + name, "--at-most=" + std::to_string(most)},
                  size});
      std::filesystem::remove_all(name);
      status = std::max(status, result);
    }
    return status;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
