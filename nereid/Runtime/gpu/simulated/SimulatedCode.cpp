//===- SimulatedCode.cpp - Modules and launches ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"
#include "nereid/Sim/TensorMap.h"

#include <cstring>

namespace nereid::gpu::simulated {

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {

/// Where errors go, of the driver's options.
struct ErrorLog {
  char *text = nullptr;
  size_t bytes = 0;

  ErrorLog(unsigned count, const int *names, void **values) {
    for (unsigned i = 0; i < count; ++i) {
      if (names[i] == JitErrorLogBuffer) {
        text = static_cast<char *>(values[i]);
      } else if (names[i] == JitErrorLogBytes) {
        bytes = reinterpret_cast<size_t>(values[i]);
      }
    }
  }
  void write(const std::string &message) const {
    if (text && bytes) {
      std::snprintf(text, bytes, "%s", message.c_str());
    } else {
      std::fprintf(stderr, "%s\n", message.c_str());
    }
  }
};

} // namespace

static Result load(ModuleObject &made, const std::string &text,
                   const ErrorLog &log) {
  auto module = sim::parsePtx(text);
  if (!module.ok()) {
    log.write("simulator: " + module.failure().message);
    return InvalidPtx;
  }
  made.module = std::move(*module);
  made.globals = made.module->globals;
  auto globals = reinterpret_cast<uint64_t>(made.globals.data());
  for (const sim::Entry &entry : made.module->entries) {
    auto program = sim::decode(*made.module, entry, globals);
    if (!program.ok()) {
      log.write("simulator: " + program.failure().message);
      return InvalidPtx;
    }
    made.functions[entry.name] = new FunctionObject{std::move(*program), &made};
  }
  if (globals) {
    world().memory.add(globals, made.globals.size());
  }
  return Success;
}

static void destroy(ModuleObject *module) {
  for (auto &[name, function] : module->functions) {
    delete function;
  }
  world().memory.remove(reinterpret_cast<uint64_t>(module->globals.data()));
  delete module;
}

Result moduleLoadDataEx(ModuleHandle *module, const void *image, unsigned count,
                        int *names, void **values) {
  auto *made = new ModuleObject;
  Result result = load(*made, static_cast<const char *>(image),
                       ErrorLog(count, names, values));
  if (result != Success) {
    destroy(made);
    return result;
  }
  *module = made;
  return Success;
}

Result moduleUnload(ModuleHandle module) {
  if (!module) {
    return InvalidHandle;
  }
  runAll();
  destroy(module);
  return Success;
}

Result moduleGetFunction(FunctionHandle *function, ModuleHandle module,
                         const char *name) {
  auto found = module->functions.find(name);
  if (found == module->functions.end()) {
    return notFound;
  }
  *function = found->second;
  return Success;
}

/// A link gives the PTX itself, which loads like machine code.
Result linkCreate(unsigned count, int *names, void **values, LinkHandle *link) {
  ErrorLog log(count, names, values);
  *link = new LinkObject{log.text, log.bytes, {}};
  return Success;
}

Result linkAddData(LinkHandle link, int, void *data, size_t, const char *,
                   unsigned, int *, void **) {
  link->text = static_cast<const char *>(data);
  auto module = sim::parsePtx(link->text);
  if (!module.ok()) {
    if (link->errors && link->errorBytes) {
      std::snprintf(link->errors, link->errorBytes, "simulator: %s",
                    module.failure().message.c_str());
    }
    return InvalidPtx;
  }
  return Success;
}

Result linkComplete(LinkHandle link, void **cubin, size_t *bytes) {
  *cubin = link->text.data();
  *bytes = link->text.size() + 1;
  return Success;
}

Result linkDestroy(LinkHandle link) {
  delete link;
  return Success;
}

//===----------------------------------------------------------------------===//
// Maps of tensors
//===----------------------------------------------------------------------===//

/// Of what is not simulated the reason is reported, since a GPU takes it.
Result tensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                            const uint64_t *sizes, const uint64_t *strides,
                            const unsigned *box, const unsigned *elementStrides,
                            int interleave, int swizzle, int promotion,
                            int fill) {
  if (!map || reinterpret_cast<uintptr_t>(map) % alignof(sim::TensorMap)) {
    return invalidValue;
  }
  auto made = sim::encodeTiled({type, rank, reinterpret_cast<uint64_t>(address),
                                sizes, strides, box, elementStrides, interleave,
                                swizzle, promotion, fill});
  if (made.ok()) {
    std::memcpy(map, &*made, sizeof(sim::TensorMap));
    return Success;
  }
  const Failure &failure = made.failure();
  if (failure.code != ErrorCode::Unsupported) {
    return invalidValue;
  }
  std::fprintf(stderr, "simulator: %s\n", failure.message.c_str());
  return notSupported;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Registers are the assembler's to give out: here there are none to tell.
Result funcGetAttribute(int *value, int attribute, FunctionHandle function) {
  *value = attribute == MaxFunctionThreads ? 1024
           : attribute == LocalBytes       ? int(function->program->localBytes)
                                           : 0;
  return Success;
}

Result funcSetAttribute(FunctionHandle, int attribute, int value) {
  if (attribute != MaxDynamicSharedBytes) {
    return Success;
  }
  int most = 0;
  deviceGetAttribute(&most, SharedBytesPerBlockOptin, 0);
  return value <= most ? Success : invalidValue;
}

Result occupancyMaxActiveBlocks(int *blocks, FunctionHandle, int threads,
                                size_t sharedBytes) {
  int mostThreads = 0, mostShared = 0;
  deviceGetAttribute(&mostThreads, MaxThreadsPerMultiprocessor, 0);
  deviceGetAttribute(&mostShared, SharedBytesPerMultiprocessor, 0);
  int byShared = mostShared / int(sharedBytes + 1024);
  *blocks = std::min(mostThreads / std::max(threads, 1), byShared);
  return Success;
}

static Result resultOf(const Failure &failure) {
  bool isAddress =
      failure.message.find("illegal memory access") != std::string::npos;
  return isAddress ? IllegalAddress : LaunchFailed;
}

/// On a thread of the host for each core; with a seed on one, so that the same
/// seed gives the same order.
static Result run(const FunctionObject &function, std::array<uint32_t, 3> grid,
                  std::array<uint32_t, 3> block, uint32_t sharedBytes,
                  const std::vector<unsigned char> &parameters,
                  bool isCooperative) {
  const Options &options = world().options;
  sim::LaunchRequest request{*function.program, world().memory, grid, block};
  request.sharedBytes = sharedBytes;
  request.parameters = parameters;
  request.asyncOrder = options.asyncOrder;
  request.checksRaces = options.checksRaces;
  request.seed = options.seed;
  request.workers = options.seed ? 1 : unsigned(thisMachine().cores);
  request.isCooperative = isCooperative;
  sim::Profile profile;
  const World &all = world();
  if (all.tell) {
    request.profile = &profile;
    request.sample = all.sample;
    if (isCooperative) {
      request.sample.mostBlocks = 0;
    }
  }
  Status status = sim::launch(request);
  if (status.ok()) {
    if (all.tell) {
      all.tell({*function.program, function.module->module->text, profile, grid,
                block[0] * block[1] * block[2], sharedBytes});
    }
    return Success;
  }
  std::string line = "simulator: " + status.failure().message + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  world().fatal = resultOf(status.failure());
  // As on a GPU the launch itself has succeeded; the next call tells.
  return Success;
}

static Result launch(FunctionHandle function, std::array<uint32_t, 3> grid,
                     std::array<uint32_t, 3> block, unsigned sharedBytes,
                     StreamHandle stream, void **values, bool isCooperative) {
  const sim::Program &program = *function->program;
  int most = 0;
  deviceGetAttribute(&most, SharedBytesPerBlockOptin, 0);
  uint64_t threads = uint64_t(block[0]) * block[1] * block[2];
  bool fits = threads && threads <= 1024 && sharedBytes <= unsigned(most) &&
              grid[0] && grid[1] && grid[2] && grid[1] < 65536 &&
              grid[2] < 65536;
  if (program.threads[0] && program.threads != block) {
    fits = false;
  }
  if (!fits) {
    return invalidValue;
  }
  std::vector<unsigned char> parameters(program.parameterBytes);
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const sim::Parameter &parameter = program.parameters[i];
    std::memcpy(&parameters[parameter.offset], values[i], parameter.bytes);
  }
  return enqueue(stream, [=, parameters = std::move(parameters)] {
    return run(*function, grid, block, sharedBytes, parameters, isCooperative);
  });
}

Result launchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                    unsigned gridZ, unsigned blockX, unsigned blockY,
                    unsigned blockZ, unsigned sharedBytes, StreamHandle stream,
                    void **parameters, void **) {
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                sharedBytes, stream, parameters, false);
}

/// Grids run one after the other: none begins early.
Result launchKernelEx(const LaunchConfig *config, FunctionHandle function,
                      void **parameters, void **extra) {
  return launchKernel(function, config->gridX, config->gridY, config->gridZ,
                      config->blockX, config->blockY, config->blockZ,
                      config->sharedBytes, config->stream, parameters, extra);
}

Result launchCooperativeKernel(FunctionHandle function, unsigned gridX,
                               unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ,
                               unsigned sharedBytes, StreamHandle stream,
                               void **parameters) {
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                sharedBytes, stream, parameters, true);
}

} // namespace nereid::gpu::simulated
