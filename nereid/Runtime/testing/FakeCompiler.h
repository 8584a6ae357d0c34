//===- FakeCompiler.h - A compiler whose kernels are C++ lambdas -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests: shows that the runtime needs nothing of the real compiler. A fake
// kernel is a description and a function; its image carries its name as
// "code", and load() finds the function again. Everything that crosses the
// interface is recorded.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TESTING_FAKECOMPILER_H
#define NEREID_RUNTIME_TESTING_FAKECOMPILER_H

#include "nereid/ABI/AssembledApart.h"
#include "nereid/ABI/KernelCompiler.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <sstream>

namespace nereid {

/// One program of a fake kernel, seen from its function.
class FakeCall {
public:
  FakeCall(const KernelImage &image,
           const std::map<std::string, int64_t> &constants,
           const LaunchFrame *frame)
      : frame(frame), image(image), constants(constants) {}

  bool isConstant(const std::string &name) const {
    return constants.count(name);
  }
  /// An integer, whether compiled in or passed.
  int64_t integer(const std::string &name) const {
    auto found = constants.find(name);
    if (found != constants.end()) {
      return found->second;
    }
    uint64_t slot = this->slot(name);
    return dtype(name) == DType::Int32 ? static_cast<int32_t>(slot)
                                       : static_cast<int64_t>(slot);
  }
  template <typename T>
  T *pointer(const std::string &name) const {
    return reinterpret_cast<T *>(slot(name));
  }
  uint64_t slot(const std::string &name) const {
    return frame->arguments[index(name)];
  }
  int32_t program(int axis) const { return frame->programId[axis]; }

  const LaunchFrame *frame;

private:
  size_t index(const std::string &name) const {
    for (size_t i = 0; i < image.parameters.size(); ++i) {
      if (image.parameters[i].name == name) {
        return i;
      }
    }
    std::abort(); // a mistake in the test
  }
  DType dtype(const std::string &name) const {
    return image.parameters[index(name)].dtype;
  }

  const KernelImage &image;
  const std::map<std::string, int64_t> &constants;
};

struct FakeKernel {
  KernelDescription description;
  std::function<void(const FakeCall &)> program;
  /// Instead of `program`: called as it is.
  HostEntry entry = nullptr;
  std::vector<ImageSite> sites;
  uint64_t scratchBytes = 0;
  /// On a GPU: what follows ".entry <name>(" in the PTX, and the image's.
  std::string ptx;
  uint32_t sharedBytes = 0;
  uint32_t lanes = 32; ///< threads of a warp
  bool hasFaultRecord = false;
  /// Fails the compilation when it returns a message.
  std::function<std::string(const CompileRequest &)> refuse;
};

/// What several compilers of one test share.
struct FakeWorld {
  std::map<std::string, FakeKernel> kernels;
  std::map<std::string, std::function<StaticValue(
                            const std::map<std::string, StaticValue> &)>>
      heuristics;
  std::function<std::vector<HookAction>(const HookRequest &)> hook;
  std::function<std::vector<size_t>(const HookRequest &)> prune;
  bool hasAssembler = false; ///< which gives the text another format
  std::string buildId = "fake-1";
  std::atomic<int> compiles = 0, loads = 0, evaluations = 0, assembled = 0;
  std::mutex mutex;
  std::vector<CompileRequest> requests;
};

class FakeCompiler : public KernelCompiler {
public:
  explicit FakeCompiler(std::shared_ptr<FakeWorld> world)
      : world(std::move(world)) {}

  std::string buildId() const override { return world->buildId; }

  Expected<std::string> resolveTarget(const std::string &target) override {
    return target == "cpu" ? "fake-v1" : target;
  }

  Expected<std::vector<std::string>> listKernels(const Source &) override {
    std::vector<std::string> names;
    for (const auto &[name, kernel] : world->kernels) {
      names.push_back(name);
    }
    return names;
  }

  Expected<KernelDescription> describe(const Source &,
                                       const std::string &kernel) override {
    auto found = world->kernels.find(kernel);
    if (found == world->kernels.end()) {
      return {ErrorCode::NotFound, "no kernel '" + kernel + "'"};
    }
    return found->second.description;
  }

  Expected<CompileResult> compile(const CompileRequest &request) override {
    ++world->compiles;
    {
      std::lock_guard lock(world->mutex);
      world->requests.push_back(request);
    }
    const FakeKernel &kernel = world->kernels.at(request.kernel);
    if (kernel.refuse) {
      if (std::string why = kernel.refuse(request); !why.empty()) {
        return {ErrorCode::CompileError, why};
      }
    }
    CompileResult result;
    KernelImage &image = result.image;
    image.kernel = image.entry = request.kernel;
    image.target = request.target;
    image.sites = kernel.sites;
    image.scratchBytes = kernel.scratchBytes;
    image.numWarps = request.options.numWarps;
    image.threadsPerBlock = kernel.lanes * request.options.numWarps;
    image.stageTimes = {{"fake", 0.5}};
    for (size_t i = 0; i < request.arguments.size(); ++i) {
      addParameters(request.arguments[i], kernel.description.parameters[i].name,
                    image);
    }
    image.sharedBytes = kernel.sharedBytes;
    image.hasFaultRecord = kernel.hasFaultRecord;
    // "code": the kernel's name and its integer constants, one a line.
    std::string code = request.kernel + "\n";
    if (request.target.starts_with("sm_")) {
      image.format = ImageFormat::GpuAssembly;
      code = ".target " + request.target + "\n.entry " + request.kernel + "(" +
             kernel.ptx + "\n";
    }
    if (request.target.starts_with("gfx")) {
      image.format = ImageFormat::GpuBinary;
      code = "\x7f"
             "ELF .entry " +
             request.kernel + "(" + '\0';
    }
    for (size_t i = 0; i < request.arguments.size(); ++i) {
      auto *value = std::get_if<StaticValue>(&request.arguments[i]);
      if (value && std::holds_alternative<int64_t>(value->value)) {
        code +=
            kernel.description.parameters[i].name + "\n" + value->str() + "\n";
      }
    }
    auto *first = reinterpret_cast<const std::byte *>(code.data());
    image.code.assign(first, first + code.size());
    if (world->hasAssembler && AssembledApart::ofThread()) {
      image.format = ImageFormat::GpuBinary;
      ++world->assembled;
    }
    return result;
  }

  Expected<StaticValue> evaluate(const EvaluateRequest &request) override {
    ++world->evaluations;
    return world->heuristics.at(request.heuristic)(request.values);
  }

  Expected<std::vector<HookAction>>
  runHook(const HookRequest &request) override {
    ++world->evaluations;
    return world->hook(request);
  }

  Expected<std::vector<size_t>>
  pruneConfigs(const HookRequest &request) override {
    ++world->evaluations;
    return world->prune(request);
  }

  Expected<HostCode> load(const KernelImage &image) override {
    ++world->loads;
    auto loaded = std::make_shared<Loaded>();
    std::istringstream code(std::string(
        reinterpret_cast<const char *>(image.code.data()), image.code.size()));
    std::string name, value;
    std::getline(code, name);
    auto found = world->kernels.find(name);
    if (found == world->kernels.end()) {
      return {ErrorCode::Internal, "fake code of an unknown kernel"};
    }
    loaded->kernel = &found->second;
    loaded->image = image;
    while (std::getline(code, name) && std::getline(code, value)) {
      loaded->constants[name] = std::stoll(value);
    }
    HostEntry entry = loaded->kernel->entry ? loaded->kernel->entry : &enter;
    return HostCode{entry, loaded.get(), loaded};
  }

private:
  static void addParameters(const ArgumentSpec &spec, const std::string &name,
                            KernelImage &image) {
    if (auto *a = std::get_if<RuntimeArgument>(&spec)) {
      image.parameters.push_back(
          {name, a->dtype, a->isPointer, a->isConst, true});
    } else if (auto *c = std::get_if<CompositeArgument>(&spec)) {
      for (size_t i = 0; i < c->items.size(); ++i) {
        addParameters(c->items[i], name + "." + c->itemName(i), image);
      }
    }
  }

  struct Loaded {
    const FakeKernel *kernel;
    KernelImage image;
    std::map<std::string, int64_t> constants;
  };

  static void enter(const void *self, LaunchFrame *frame, int64_t begin,
                    int64_t end) {
    auto *loaded = static_cast<const Loaded *>(self);
    for (int64_t p = begin; p < end; ++p) {
      frame->programId[0] = static_cast<int32_t>(p % frame->grid[0]);
      frame->programId[1] =
          static_cast<int32_t>(p / frame->grid[0] % frame->grid[1]);
      frame->programId[2] =
          static_cast<int32_t>(p / (int64_t{frame->grid[0]} * frame->grid[1]));
      loaded->kernel->program(
          FakeCall(loaded->image, loaded->constants, frame));
    }
  }

  std::shared_ptr<FakeWorld> world;
};

/// Parameter descriptions, in brief.
inline ParameterDescription parameter(std::string name) {
  ParameterDescription p;
  p.name = std::move(name);
  return p;
}
inline ParameterDescription
constexprParameter(std::string name,
                   std::optional<StaticValue> value = std::nullopt) {
  ParameterDescription p = parameter(std::move(name));
  p.isStatic = true;
  p.defaultValue = std::move(value);
  return p;
}

} // namespace nereid

#endif // NEREID_RUNTIME_TESTING_FAKECOMPILER_H
