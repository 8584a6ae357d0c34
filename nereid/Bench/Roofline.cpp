//===- Roofline.cpp - What a machine can do -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Roofline.h"

#include "nereid/Bench/Measure.h"
#include "nereid/Runtime/Grid.h"
#include "nereid/Runtime/Kernel.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/cache/DiskCache.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Support/CpuLevels.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Hash.h"
#include "nereid/Support/Host.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

namespace nereid::bench {

using namespace nereid::literals;

double Work::operations() const {
  double all = floatOperations;
  for (const auto &[rate, count] : products) {
    all += count;
  }
  return all;
}

double Roofline::leastCachedMs(const Work &work) const {
  Roofline ofCache = *this;
  ofCache.copy = std::max(copy, cache);
  return ofCache.leastMs(work);
}

double Roofline::leastMs(const Work &work) const {
  double most = copy ? work.bytes / copy / 1e6 : 0;
  double threads = work.floatOperations;
  for (const auto &[name, count] : work.products) {
    auto rate = operations.find(name);
    if (rate == operations.end()) {
      threads += count;
    } else {
      most = std::max(most, count / rate->second / 1e9);
    }
  }
  auto rate = operations.find("fp32");
  return rate == operations.end()
             ? most
             : std::max(most, threads / rate->second / 1e9);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {

class Surveyor {
public:
  Surveyor(Device device, const RooflineOptions &options)
      : device(device), options(options) {
    if (device.isHost()) {
      programs = numThreads();
      cacheBytes = int64_t(options.machine.lastLevelCacheBytes);
    } else {
      const gpu::DeviceProperties &properties =
          (*valueOrThrow(gpu::DeviceState::get(device))).properties;
      programs = properties.multiprocessors;
      cacheBytes = properties.l2Bytes;
    }
  }

  double copyRate();
  double cacheRate();
  double floatRate();
  double productRate(DType type);

private:
  Kernel kernel(const char *name) const;
  /// `amount` a millisecond, of the fastest sample; 0 where none runs.
  double bestRate(const std::string &what, double amount,
                  std::vector<Contender> contenders);

  Device device;
  const RooflineOptions &options;
  int64_t programs, cacheBytes;
};

} // namespace

Kernel Surveyor::kernel(const char *name) const {
  static const std::pair<const char *, const char *> sources[] = {
#include "nereid/Bench/RooflineSources.inc"
  };
  return Kernel::fromSource(Source{"roofline.py", sources[0].second, {}}, name)
      .on(device);
}

double Surveyor::bestRate(const std::string &what, double amount,
                          std::vector<Contender> contenders) {
  // A machine that is busy has quiet moments: so long as another turn finds a
  // better one, there may be more.
  constexpr size_t mostTurns = 8;
  constexpr double grows = 1.01, seconds = 0.3;
  double best = 0;
  for (size_t turn = 0, same = 0; turn < mostTurns && same < 2; ++turn) {
    if (options.stops && options.stops()) {
      break;
    }
    if (options.tell) {
      options.tell(what + (turn ? ", turn " + std::to_string(turn + 1) : ""));
    }
    double before = best;
    for (const Times &times : measure(device, contenders,
                                      {.caches = Caches::Warm,
                                       .seconds = seconds,
                                       .stops = options.stops,
                                       .clock = options.clock,
                                       .machine = options.machine})) {
      if (times.ms.samples) {
        best = std::max(best, amount / times.ms.least);
      }
    }
    same = best > before * grows ? 0 : same + 1;
  }
  return best;
}

/// `count` numbers that repeat every 4 MiB: to draw all of a large array takes
/// longer than to measure with it. Zeros would spare the power that other
/// values take.
static Tensor noise(int64_t count, Device device) {
  constexpr int64_t drawn = 1 << 20;
  if (count <= drawn) {
    return randn({count}, f32, device, 1);
  }
  int64_t blocks = cdiv(count, drawn);
  return randn({1, drawn}, f32, device, 1)
      .expand({blocks, drawn})
      .reshape({blocks * drawn})
      .slice(0, 0, count);
}

/// Arrays of 1 GiB at most, and a quarter of a GPU's free memory, of the
/// host's whole memory.
double Surveyor::copyRate() {
  constexpr int64_t most = int64_t{1} << 30, unit = 1 << 16;
  int64_t bytes = std::max<int64_t>(8 * cacheBytes, 256 << 20);
  bytes = std::min(bytes, most);
  if (device.isHost() && options.machine.memoryBytes) {
    bytes = std::min(bytes, int64_t(options.machine.memoryBytes / 4));
  }
  if (MemoryUse memory = memoryUse(device); memory.total) {
    bytes = std::min(most, int64_t(memory.free / 4));
  }
  bytes = bytes / unit * unit;
  Tensor x = noise(bytes / 4, device), y = zeros({bytes / 4}, f32, device);
  std::vector<Contender> contenders;
  for (auto [block, warps] :
       {std::pair(1024, 4), {2048, 8}, {4096, 8}, {16384, 16}}) {
    contenders.push_back({"copy", [=, run = kernel("copy")](size_t) {
                            run[{x.numel() / block}](y, x, "BLOCK"_a = block,
                                                     "num_warps"_a = warps);
                          }});
  }
  return bestRate("memory", 2 * double(bytes) / 1e6, contenders);
}

/// From a quarter of the cache, so that it stays there.
double Surveyor::cacheRate() {
  const int64_t block = device.isHost() ? 1024 : 4096, steps = 64;
  const int64_t count = programs * (device.isHost() ? 64 : 16);
  int64_t blocks = std::max<int64_t>(cacheBytes / 4 / (4 * block), 1);
  Tensor x = noise(blocks * block, device),
         y = zeros({count * block}, f32, device);
  return bestRate("last-level cache", 4 * double(block * steps * count) / 1e6,
                  {{"read", [=, run = kernel("read_again")](size_t) {
                      run[{count}](y, x, blocks, "STEPS"_a = steps,
                                   "BLOCK"_a = block, "num_warps"_a = 8);
                    }}});
}

/// On a GPU a loop around few steps, whose code fits the cache of
/// instructions; on a CPU, where what a loop carries lies in memory, one pass.
double Surveyor::floatRate() {
  const bool isHost = device.isHost();
  const int64_t times = isHost ? 1 : 256, steps = isHost ? 64 : 8;
  const int64_t block = isHost ? 1024 : 512,
                count = programs * (isHost ? 64 : 32);
  Tensor y = zeros({count * block}, f32, device);
  return bestRate("fp32", 16 * double(times * steps * block * count) / 1e9,
                  {{"multiply_add", [=, run = kernel("multiply_add")](size_t) {
                      run[{count}](y, 0.5, 1.0, "TIMES"_a = times,
                                   "STEPS"_a = steps, "BLOCK"_a = block);
                    }}});
}

double Surveyor::productRate(DType type) {
  struct Way {
    int64_t m, n, bytesK, warps;
  };
  static constexpr Way ways[] = {{128, 256, 128, 8},
                                 {128, 128, 128, 8},
                                 {128, 128, 128, 4},
                                 {64, 128, 128, 4}};
  constexpr int64_t steps = 512, sets = 8, perMultiprocessor = 4;
  const int64_t count = programs * perMultiprocessor;
  double best = 0;
  for (const Way &way : ways) {
    int64_t k = way.bytesK / int64_t(byteSize(type));
    // Several blocks in turn: the same one again and again spares power.
    auto operand = [&](int64_t rows) {
      return isFloat(type)
                 ? randn({sets * rows, k}, type, device, 1)
                 : randint({sets * rows, k}, -128, 127, type, device, 1);
    };
    Tensor a = operand(way.m), b = operand(way.n);
    Tensor c = zeros({count, way.m, way.n}, isFloat(type) ? f32 : i32, device);
    best = std::max(
        best,
        bestRate(std::string(languageName(type)) + " products",
                 2 * double(way.m * way.n * k * steps * count) / 1e9,
                 {{"product", [=, run = kernel("multiply_matrices")](size_t) {
                     run[{count}](c, a, b, "STEPS"_a = steps, "SETS"_a = sets,
                                  "M"_a = way.m, "N"_a = way.n, "K"_a = k,
                                  "num_warps"_a = way.warps);
                   }}}));
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Keeping
//===----------------------------------------------------------------------===//

using Json = nlohmann::ordered_json;

std::string textOf(const Roofline &roofline) {
  Json json = {{"device", roofline.device},
               {"driver", roofline.driver},
               {"build", roofline.build},
               {"copy [GB/s]", roofline.copy},
               {"cache [GB/s]", roofline.cache},
               {"operations [TFLOP/s]", roofline.operations},
               {"derived from bf16", roofline.derived},
               {"measured", roofline.date},
               {"load", roofline.load}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Expected<Roofline> parseRoofline(const std::string &text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    return Roofline{json.at("device"),
                    json.at("driver"),
                    json.at("build"),
                    json.at("copy [GB/s]"),
                    json.at("cache [GB/s]"),
                    json.at("operations [TFLOP/s]"),
                    json.value("derived from bf16", std::vector<std::string>()),
                    json.value("measured", std::string()),
                    json.value("load", 0.0)};
  } catch (const Json::exception &error) {
    return {ErrorCode::IoError, "expected the roofline of a machine, got " +
                                    std::string(error.what())};
  }
}

/// "580.159", of the kernel module; empty where the system does not say.
/// NVIDIA's file says more before it, AMD's nothing.
static std::string moduleVersion(const char *file) {
  Expected<std::string> text = readFile(file);
  std::string line = text.ok() ? text->substr(0, text->find('\n')) : "";
  if (line.find(' ') == std::string::npos) {
    return line;
  }
  size_t first = line.find("  ");
  first = first == std::string::npos ? line.size()
                                     : line.find_first_not_of(' ', first);
  return first >= line.size()
             ? ""
             : line.substr(first, line.find(' ', first) - first);
}

static Roofline identityOf(Device device) {
  Roofline roofline;
  KernelCompiler *compiler = Context::shared().compiler();
  roofline.build = compiler ? compiler->buildId() : "none";
  if (device.isHost()) {
    roofline.device = thisMachine().processor + ", " +
                      std::to_string(numThreads()) + " threads";
    roofline.driver = "features " +
                      hashText(hostFeatureWords()).hex().substr(0, 8) +
                      ", level " + std::to_string(cpu::deviceLevel());
    return roofline;
  }
  gpu::DeviceState &state = *valueOrThrow(gpu::DeviceState::get(device));
  roofline.device = state.properties.name;
  roofline.driver =
      state.driver.versionText() + " " +
      moduleVersion(state.isHip() ? "/sys/module/amdgpu/version"
                                  : "/proc/driver/nvidia/version");
  return roofline;
}

std::string nameOf(Device device) { return identityOf(device).device; }

/// Chips whose peak takes instructions of several warps, which kernels get for
/// bf16 and integers of 8 bits alone: data sheets have tf32 at half of bf16,
/// and floats of 8 bits at twice.
static void deriveRates(Roofline &roofline, Device device) {
  const gpu::DeviceProperties &properties =
      (*valueOrThrow(gpu::DeviceState::get(device))).properties;
  auto bf16 = roofline.operations.find("bf16");
  constexpr int hopper = 9;
  if (bf16 == roofline.operations.end() ||
      device.kind() != Device::Kind::Cuda || properties.major != hopper) {
    return;
  }
  for (auto [name, share] : {std::pair("tf32", 0.5), {"fp8", 2.0}}) {
    double &rate = roofline.operations[name];
    if (rate < share * bf16->second) {
      rate = share * bf16->second;
      roofline.derived.emplace_back(name);
    }
  }
}

static double loadNow() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

static std::string dateNow() {
  std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

/// `part`: what of it, for the file's name.
static std::string pathOf(const Roofline &identity, const std::string &part) {
  Hasher hasher;
  hasher.field(identity.device).field(identity.driver).field(identity.build);
  return DiskCache::defaultFolder() + "/roofline-" + part +
         hasher.finish().hex().substr(0, 16) + ".json";
}

static std::optional<Roofline> keptRoofline(const Roofline &identity,
                                            const std::string &part) {
  Expected<std::string> text = readFile(pathOf(identity, part));
  if (!text.ok()) {
    return std::nullopt;
  }
  Expected<Roofline> kept = parseRoofline(*text);
  bool isThis = kept.ok() && kept->device == identity.device &&
                kept->driver == identity.driver &&
                kept->build == identity.build;
  return isThis ? std::optional(*kept) : std::nullopt;
}

static void keep(const Roofline &roofline, const std::string &part) {
  Status status = makePrivateFolder(DiskCache::defaultFolder());
  status = status.ok() ? replaceFile(pathOf(roofline, part), textOf(roofline))
                       : status;
  if (!status.ok()) {
    warn("the roofline is not kept: " + status.failure().message);
  }
}

double floatRateOf(Device device, const RooflineOptions &options) {
  Roofline roofline = identityOf(device);
  constexpr const char *alone = "fp32-";
  for (const char *part : {"", alone}) {
    std::optional<Roofline> kept = keptRoofline(roofline, part);
    if (kept && !options.again && kept->operations.contains("fp32")) {
      return kept->operations.at("fp32");
    }
  }
  roofline.load = loadNow();
  roofline.date = dateNow();
  double rate = Surveyor(device, options).floatRate();
  roofline.operations["fp32"] = rate;
  if (!options.stops || !options.stops()) {
    keep(roofline, alone);
  }
  return rate;
}

Roofline rooflineOf(Device device, const RooflineOptions &options) {
  Roofline roofline = identityOf(device);
  if (auto kept = keptRoofline(roofline, ""); kept && !options.again) {
    return *kept;
  }
  roofline.load = loadNow();
  roofline.date = dateNow();
  Surveyor surveyor(device, options);
  roofline.copy = surveyor.copyRate();
  roofline.cache = surveyor.cacheRate();
  roofline.operations["fp32"] = surveyor.floatRate();
  if (!device.isHost()) {
    for (auto [name, type] : {std::pair("tf32", f32),
                              {"bf16", bf16},
                              {"fp8", fp8e4nv},
                              {"int8", i8}}) {
      if (double rate = surveyor.productRate(type)) {
        roofline.operations[name] = rate;
      }
    }
  }
  if (!device.isHost()) {
    deriveRates(roofline, device);
  }
  if (options.stops && options.stops()) {
    return roofline;
  }
  keep(roofline, "");
  return roofline;
}

} // namespace nereid::bench
