//===- CountedWork.cpp - What launches have to do -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountedWork.h"

#include "nereid/Explain/Work.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace nereid {

/// The machine that is counted on: what a launch has to do depends on it as
/// little as on its blocks.
static constexpr const char *target = "sm_90a";
/// Instructions of warps of a grid that runs as a whole: half a second or so.
static constexpr uint64_t wholeCost = 8'000'000;

//===----------------------------------------------------------------------===//
// The process that counts
//===----------------------------------------------------------------------===//

/// PTX's name of a type as that of a rate.
static std::string rateName(const std::string &type) {
  return type == "f16" || type == "bf16"    ? "bf16"
         : type == "e4m3" || type == "e5m2" ? "fp8"
         : type == "s8" || type == "u8"     ? "int8"
                                            : type;
}

static void add(bench::Work &sum, const explain::Work &work) {
  sum.bytes += work.bytesRead + work.bytesWritten;
  sum.floatOperations += work.floatOperations;
  for (const auto &[type, count] : work.productOperations) {
    sum.products[rateName(type)] += count;
  }
  sum.isSample |= work.isSample;
}

/// Threads work on elements that a mask keeps out, and several on the same one:
/// the source says what was asked for. So do warps that have copies of a block.
/// Products without matrix instructions are operations of threads.
static void leaveOutIdle(bench::Work &sum, const SourceOperations &asked) {
  sum.floatOperations =
      asked.floats + (sum.products.empty() ? asked.floatProducts : 0);
  double all = 0;
  for (const auto &[type, count] : sum.products) {
    all += count;
  }
  // Of several types, each has its share.
  for (auto &[type, count] : sum.products) {
    count = all > 0 ? asked.products * (count / all) : 0;
  }
}

/// Of @triton.autotune any configuration will do: nothing is tried here.
static ProviderText withFirstConfigs(ProviderText provider) {
  for (LaunchText &launch : provider.launches) {
    const auto &configs = launch.kernel.description().configs;
    if (configs.empty()) {
      continue;
    }
    auto give = [&](const std::string &name, const std::string &value) {
      for (const std::string &argument : launch.arguments) {
        if (splitArgument(argument).name == name) {
          return;
        }
      }
      launch.arguments.push_back(name + "=" + value);
    };
    for (const auto &[name, value] : configs[0].values) {
      give(name, value.str());
    }
    give("num_warps", std::to_string(configs[0].options.numWarps));
  }
  return provider;
}

static nlohmann::json countedJson(const BenchPlan &plan,
                                  const ProviderText &provider,
                                  const VariableValues &point, uint64_t seed,
                                  bench::Work &sum) {
  sum = {};
  try {
    PointArrays arrays(point, Device::cuda(), seed);
    arrays.drawsNothing = true;
    arrays.add(plan.arrays);
    BoundProvider bound(provider, arrays);
    bound.run(0);
    synchronize(Device::cuda());
    if (std::optional<SourceOperations> asked = bound.operations()) {
      leaveOutIdle(sum, *asked);
    }
  } catch (const Error &error) {
    return {{"failure", error.message()}};
  }
  return {{"bytes", sum.bytes},
          {"float", sum.floatOperations},
          {"products", sum.products},
          {"sample", sum.isSample}};
}

[[noreturn]] static void runCounter(int to, const BenchPlan &plan,
                                    const std::vector<VariableValues> &points,
                                    uint64_t mostPrograms, uint64_t seed) {
  if (std::shared_ptr<Observer> observer = currentObserver()) {
    stopObserving(*observer); // a trace is of the process that asks
  }
  bench::Work sum;
  gpu::simulateAndProfile(
      target, {mostPrograms, mostPrograms ? wholeCost : 0},
      [&](const gpu::ProfiledLaunch &launch) {
        add(sum, explain::countWork(launch.program, launch.profile));
      });
  ProviderText provider = withFirstConfigs(plan.providers[0]);
  provider.device = Device::cuda();
  for (const VariableValues &point : points) {
    std::string line =
        countedJson(plan, provider, point, seed, sum)
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
        "\n";
    if (::write(to, line.data(), line.size()) != ssize_t(line.size())) {
      break;
    }
  }
  ::_exit(0);
}

//===----------------------------------------------------------------------===//
// The process that asks
//===----------------------------------------------------------------------===//

static Expected<bench::Work> parseWork(const std::string &line) {
  nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (json.is_discarded()) {
    return {ErrorCode::Internal, "the process that counts has ended"};
  }
  if (json.contains("failure")) {
    return {ErrorCode::Unsupported, json["failure"]};
  }
  return bench::Work{json["bytes"], json["float"], json["products"],
                     json["sample"]};
}

WorkCounter::WorkCounter(const BenchPlan &plan,
                         const std::vector<VariableValues> &points,
                         uint64_t mostPrograms, uint64_t seed) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return;
  }
  std::fflush(nullptr);
  child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    runCounter(ends[1], plan, points, mostPrograms, seed);
  }
  ::close(ends[1]);
  from = ::fdopen(ends[0], "r");
}

WorkCounter::~WorkCounter() {
  if (from) {
    std::fclose(from);
  }
  if (child > 0) {
    ::kill(child, SIGKILL);
    int ignored = 0;
    ::waitpid(child, &ignored, 0);
  }
}

Expected<bench::Work> WorkCounter::next() {
  std::string line;
  for (int c; from && (c = std::fgetc(from)) != EOF && c != '\n';) {
    line += char(c);
  }
  return parseWork(line);
}

} // namespace nereid
