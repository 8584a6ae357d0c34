//===- FakeDriverCode.cpp - Modules and launches --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/testing/FakeWorld.h"

#include <cstring>

using namespace nereid::gpu;

extern "C" {

/// What the assembler writes: false when it finds an error.
static bool writeLogs(const std::string &text, char *info, char *errors) {
  if (text.find(".wrong") != std::string::npos) {
    std::strcpy(errors, "ptxas fatal: line 2: Unknown .wrong\n");
    return false;
  }
  std::strcpy(info, "ptxas info : 8 bytes stack frame, 4 bytes spill "
                    "stores, 12 bytes spill loads\n");
  return true;
}

static std::map<int, size_t> optionsOf(unsigned count, const int *names,
                                       void **values) {
  std::map<int, size_t> options;
  for (unsigned i = 0; i < count; ++i) {
    options[names[i]] = reinterpret_cast<size_t>(values[i]);
  }
  return options;
}

Result cuLinkCreate_v2(unsigned count, int *names, void **values,
                       LinkHandle *link) {
  NEREID_FAKE("cuLinkCreate_v2");
  *link = new LinkObject;
  auto options = optionsOf(count, names, values);
  (*link)->info = reinterpret_cast<char *>(options[JitInfoLogBuffer]);
  (*link)->errors = reinterpret_cast<char *>(options[JitErrorLogBuffer]);
  return Success;
}

Result cuLinkAddData_v2(LinkHandle link, int, void *data, size_t bytes,
                        const char *, unsigned, int *, void **) {
  NEREID_FAKE("cuLinkAddData_v2");
  auto *text = static_cast<const char *>(data);
  if (!bytes || text[bytes - 1]) {
    return invalidValue; // the real one reads on past the end
  }
  link->text = text;
  return writeLogs(link->text, link->info, link->errors) ? Success : InvalidPtx;
}

Result cuLinkComplete(LinkHandle link, void **cubin, size_t *bytes) {
  NEREID_FAKE("cuLinkComplete");
  link->text = "CUBIN " + link->text;
  *cubin = link->text.data();
  *bytes = link->text.size() + 1;
  return Success;
}

Result cuLinkDestroy(LinkHandle link) {
  delete link;
  return Success;
}

Result cuModuleLoadDataEx(ModuleHandle *module, const void *image,
                          unsigned count, int *names, void **values) {
  NEREID_FAKE("cuModuleLoadDataEx");
  std::string text = static_cast<const char *>(image);
  auto options = optionsOf(count, names, values);
  auto buffer = [&](int name) {
    return reinterpret_cast<char *>(options.at(name));
  };
  if (count) {
    fakeDriver().jitOptions = options;
    if (!fakeDriver().hasMachineCode &&
        !writeLogs(text, buffer(JitInfoLogBuffer), buffer(JitErrorLogBuffer))) {
      return InvalidPtx;
    }
  }
  size_t entry = text.find(".entry ");
  if (entry == std::string::npos) {
    return NoBinaryForGpu;
  }
  text = text.substr(entry + 7);
  *module = new ModuleObject{text.substr(0, text.find('('))};
  return Success;
}

Result cuModuleUnload(ModuleHandle module) {
  ++fakeDriver().calls["cuModuleUnload"];
  delete module;
  return Success;
}

Result cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                           const char *name) {
  NEREID_FAKE("cuModuleGetFunction");
  if (module->entry != name || !fakeDriver().functions.count(name)) {
    return 500;
  }
  FunctionObject &object = world().functions[name];
  object.entry = name;
  *function = &object;
  return Success;
}

Result cuFuncGetAttribute(int *value, int attribute, FunctionHandle function) {
  NEREID_FAKE("cuFuncGetAttribute");
  const FakeFunction &f = fakeDriver().functions.at(function->entry);
  *value = attribute == NumRegisters        ? f.registers
           : attribute == LocalBytes        ? f.localBytes
           : attribute == StaticSharedBytes ? f.staticSharedBytes
                                            : f.maxThreads;
  return Success;
}

Result cuFuncSetAttribute(FunctionHandle function, int attribute, int value) {
  NEREID_FAKE("cuFuncSetAttribute");
  std::string key = function->entry + ":" + std::to_string(attribute);
  fakeDriver().functionAttributes[key] = value;
  return Success;
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, FunctionHandle,
                                                   int threads, size_t) {
  *blocks = 2048 / threads;
  return Success;
}

Result cuLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned, unsigned,
                      unsigned sharedBytes, StreamHandle stream,
                      void **parameters, void **) {
  NEREID_FAKE("cuLaunchKernel");
  if (!current) {
    return InvalidContext;
  }
  const FakeFunction &f = fakeDriver().functions.at(function->entry);
  FakeKernelCall call{{gridX, gridY, gridZ}, blockX, sharedBytes, {}};
  for (size_t i = 0; i < f.parameterBytes.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, parameters[i], f.parameterBytes[i]);
    call.values.push_back(value);
  }
  push(stream, [call = std::move(call), name = function->entry] {
    const FakeFunction &f = fakeDriver().functions.at(name);
    fakeDriver().clockMs += f.milliseconds;
    if (f.run) {
      f.run(call);
    }
  });
  return Success;
}

Result cuLaunchKernelEx(const LaunchConfig *config, FunctionHandle function,
                        void **parameters, void **extra) {
  NEREID_FAKE("cuLaunchKernelEx");
  for (unsigned i = 0; i < config->attributeCount; ++i) {
    const LaunchAttribute &attribute = config->attributes[i];
    if (attribute.name == LaunchAttribute::programmaticStreamSerialization) {
      fakeDriver().dependentLaunches += attribute.value[0];
    }
  }
  return cuLaunchKernel(function, config->gridX, config->gridY, config->gridZ,
                        config->blockX, config->blockY, config->blockZ,
                        config->sharedBytes, config->stream, parameters, extra);
}

Result cuLaunchCooperativeKernel(FunctionHandle function, unsigned gridX,
                                 unsigned gridY, unsigned gridZ,
                                 unsigned blockX, unsigned blockY,
                                 unsigned blockZ, unsigned sharedBytes,
                                 StreamHandle stream, void **parameters) {
  NEREID_FAKE("cuLaunchCooperativeKernel");
  return cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ,
                        sharedBytes, stream, parameters, nullptr);
}

} // extern "C"
