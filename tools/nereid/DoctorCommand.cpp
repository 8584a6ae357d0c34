//===- DoctorCommand.cpp - nereid doctor ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this machine has, what is missing, and what to do about it. Ends with a
// kernel that is really compiled and run; exits with 1 when that fails.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "nereid/CommandLine/CommandProcess.h"
#include "nereid/CommandLine/ExitStatus.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/cache/DiskCache.h"
#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Support/CpuLevels.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Target/NVPTX/Nvdisasm.h"
#include "nereid/Target/NVPTX/Ptxas.h"
#include "nereid/nereid.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace nereid {

static int problems = 0;

static void line(const char *what, const std::string &text) {
  std::printf("%-12s %s\n", what, text.c_str());
}

static void problem(const char *what, const std::string &text) {
  ++problems;
  std::printf("%-12s PROBLEM: %s\n", what, text.c_str());
}

static std::string sizeText(uint64_t bytes) {
  char text[32];
  double value = static_cast<double>(bytes);
  const char *units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    ++unit;
  }
  std::snprintf(text, sizeof(text), "%.4g %s", value, units[unit]);
  return text;
}

static void reportMachine() {
  line("processor", thisMachine().processor);
  Expected<std::string> target =
      Context::shared().compiler()->resolveTarget("cpu");
  if (target.ok()) {
    const std::string &machine =
        cpu::levels()[std::max(cpu::machineLevel(), 1) - 1].name;
    line("target", *target + (knobs().cpu.empty()
                                  ? ""
                                  : " (NEREID_CPU; this machine runs up to " +
                                        machine + ")"));
    if (cpu::deviceLevel() <= 2) {
      line("", "no AVX2: kernels use 16-byte vectors, about a quarter of what "
               "AVX-512 gives");
    }
  } else {
    problem("target", target.failure().str());
  }
  line("cores", std::to_string(thisMachine().cores) + " available, " +
                    std::to_string(numThreads()) +
                    " used (NEREID_NUM_THREADS)");
  line("cache", sizeText(thisMachine().lastLevelCacheBytes) +
                    " last level; larger launches use streaming stores");
  line("memory", sizeText(thisMachine().memoryBytes));
  Expected<std::string> pages =
      readFile("/sys/kernel/mm/transparent_hugepage/enabled");
  bool off = pages.ok() && pages->find("[never]") != std::string::npos;
  line("huge pages",
       !pages.ok() ? "unknown"
       : off       ? "off: large tensors pay more page faults; as root: echo "
                     "madvise > /sys/kernel/mm/transparent_hugepage/enabled"
                   : "on for large tensors");
}

/// Can kernels be compiled for a GPU that this machine has?
static void reportTarget(const std::string &name, const std::string &target) {
  Expected<std::string> known =
      Context::shared().compiler()->resolveTarget(target);
  if (!known.ok()) {
    problem(name.c_str(), known.failure().message);
  }
}

static void reportGpus(Device::Kind kind) {
  const bool isHip = kind == Device::Kind::Hip;
  const char *api = isHip ? "hip" : "cuda";
  Expected<int> gpus = gpu::DeviceState::count(kind);
  if (!gpus.ok()) {
    line(api, gpus.failure().message);
    return;
  }
  line(api, (isHip ? "library of " : "driver for ") +
                (*gpu::loadDriver(kind))->versionText());
  for (int i = 0; i < *gpus; ++i) {
    Device place = isHip ? Device::hip(i) : Device::cuda(i);
    Expected<gpu::DeviceState *> device = gpu::DeviceState::get(place);
    std::string name = place.str();
    if (!device.ok()) {
      problem(name.c_str(), device.failure().message);
      continue;
    }
    const gpu::DeviceProperties &p = (*device)->properties;
    line(name.c_str(),
         p.name + ", " + p.target() + ", " + std::to_string(p.multiprocessors) +
             " multiprocessors, " + sizeText(p.memoryBytes) + ", " +
             sizeText(static_cast<uint64_t>(p.sharedBytesOptin)) +
             " of shared memory a block");
    reportTarget(name, p.target());
  }
}

static void reportDevices() {
  std::string list;
  for (Device device : Device::available()) {
    list += (list.empty() ? "" : ", ") + device.str();
  }
  line("devices", list);
  reportGpus(Device::Kind::Cuda);
  reportGpus(Device::Kind::Hip);
}

static void reportAssembler() {
  Expected<std::string> ptxas = nvptx::findPtxas();
  line("ptxas", ptxas.ok() ? *ptxas
                           : "none: kernels compiled ahead of time are kept as "
                             "PTX, which the driver assembles");
  Expected<std::string> nvdisasm = nvptx::findNvdisasm();
  const std::string &named = knobs().nvdisasm;
  bool isNvdisasmWrong = !named.empty() && named != "none";
  line("nvdisasm", nvdisasm.ok()     ? *nvdisasm
                   : isNvdisasmWrong ? nvdisasm.failure().message
                                     : "none: machine code is not printed");
}

static void reportCache() {
  std::string folder = DiskCache::defaultFolder();
  uint64_t cap = knobs().cacheSize.value_or(uint64_t{1} << 30);
  if (cap == 0) {
    line("kept in", "nothing is kept: NEREID_CACHE_SIZE is 0");
    return;
  }
  Status status = makePrivateFolder(folder);
  if (!status.ok()) {
    problem("kept in", status.failure().message +
                           "; set NEREID_CACHE_DIR to a folder of your own");
    return;
  }
  std::string probe = folder + "/.tmp-doctor";
  status = replaceFile(probe, "x");
  ::unlink(probe.c_str());
  if (!status.ok()) {
    problem("kept in", status.failure().message);
    return;
  }
  DiskCache::Usage usage = DiskCache(folder, cap).usage();
  line("kept in", folder + ": " + std::to_string(usage.files) + " kernels, " +
                      sizeText(usage.bytes) + " of " + sizeText(cap));
}

static void reportSettings() {
  // Complaints about unknown variables went to stderr when they were read.
  bool any = false;
  for (const KnobDescription &knob : knobTable()) {
    if (const char *value = std::getenv(std::string(knob.variable).c_str())) {
      line(any ? "" : "settings", std::string(knob.variable) + "=" + value);
      any = true;
    }
  }
  if (!any) {
    line("settings", "none in the environment (docs/KNOBS.md lists them)");
  }
}

static const char *const selfTest = R"(import triton
import triton.language as tl

@triton.jit
def doctor_add(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + 1, mask=i < n)
)";

static void reportSelfTest(Device device) {
  std::string what = "runs on " + device.str();
  try {
    // Without the disk cache: the compiler itself is what is tested.
    Context context(createKernelCompiler(), {"", 0});
    Kernel kernel =
        Kernel::fromSource(Source{"doctor.py", selfTest, {}}, "", context);
    Tensor x = arange({1000}, f32, device), out = zeros({1000}, f32, device);
    std::vector<LaunchArgument> arguments = {out, x, 1000,
                                             LaunchArgument("BLOCK", 256)};
    double ms = kernel.compile(arguments).milliseconds;
    kernel.launch(Grid(4), arguments);
    for (int64_t i = 0; i < 1000; ++i) {
      if (out.at({i}) != static_cast<double>(i + 1)) {
        problem(what.c_str(), "a wrong result in element " + std::to_string(i));
        return;
      }
    }
    char text[64];
    std::snprintf(text, sizeof(text),
                  "a kernel was compiled in %.1f ms and "
                  "gave the right result",
                  ms);
    line(what.c_str(), text);
  } catch (const Error &error) {
    problem(what.c_str(), error.what());
  }
}

static void runDoctor() {
  line("nereid", NEREID_VERSION);
  reportMachine();
  reportDevices();
  reportAssembler();
  reportCache();
  reportSettings();
  for (Device device : Device::available()) {
    reportSelfTest(device);
  }
  if (problems) {
    raise({ErrorCode::Unsupported,
           "expected no problem, got " + std::to_string(problems) +
               ", marked PROBLEM above",
           {}});
  }
}

void addDoctorCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "doctor", "What this machine has, what is missing, what to do");
  struct Pages {
    bool knobs = false, statuses = false;
  };
  auto pages = std::make_shared<Pages>();
  command->add_flag("--knobs-markdown", pages->knobs,
                    "Print docs/KNOBS.md instead");
  command->add_flag("--exit-statuses-markdown", pages->statuses,
                    "Print docs/EXIT-STATUSES.md instead");
  command->callback([pages] {
    if (pages->knobs) {
      writeOutput(knobsMarkdown());
    } else if (pages->statuses) {
      writeOutput(exitStatusMarkdown());
    } else {
      runDoctor();
    }
  });
}

} // namespace nereid
