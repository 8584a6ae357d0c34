//===- Precompiled.cpp - Choosing among images of a library ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/library/Precompiled.h"

#include "nereid/ABI/Encoding.h"
#include "nereid/Runtime/library/UnpackCode.h"
#include "nereid/Support/CpuLevels.h"
#include "nereid/Support/EditDistance.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nereid {

//===----------------------------------------------------------------------===//
// Finding the kernel
//===----------------------------------------------------------------------===//

static std::string_view textOf(const std::byte *bytes, uint64_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

static Failure noKernel(const LibraryIndex &index, const std::string &name) {
  std::vector<std::string> names;
  std::string list;
  for (const LibraryKernel &kernel : index) {
    names.push_back(kernel.name);
    list += (list.empty() ? "" : ", ") + kernel.name;
  }
  std::string what = name.empty() ? "the library has several kernels"
                                  : "the library has no kernel '" + name + "'";
  return {ErrorCode::NotFound,
          what + "; it has " + (list.empty() ? "none" : list) +
              didYouMean(name, names),
          {}};
}

/// Every kernel has a signature, and every image is there.
static bool isSound(const LibraryIndex &index, const KernelLibrary &library) {
  for (const LibraryKernel &kernel : index) {
    for (const LibrarySignature &signature : kernel.signatures) {
      for (uint32_t image : signature.images) {
        if (image >= library.imageCount) {
          return false;
        }
      }
    }
    if (kernel.signatures.empty()) {
      return false;
    }
  }
  return true;
}

Expected<std::shared_ptr<PrecompiledKernel>>
findPrecompiled(const KernelLibrary &library, const std::string &name) {
  if (library.abi != kernelLibraryAbi) {
    auto version = [](uint32_t abi) {
      return std::to_string(abi >> 16) + "." + std::to_string(abi >> 8 & 255) +
             "." + std::to_string(abi & 255);
    };
    return {ErrorCode::Unsupported,
            "the kernel library has format " + version(library.abi) +
                ", and this program's runtime reads " +
                version(kernelLibraryAbi) +
                "; compile the kernels again, with the nereid of the same "
                "version as the runtime"};
  }
  auto index = decodeLibraryIndex(textOf(library.index, library.indexSize));
  if (!index || !isSound(*index, library)) {
    return {ErrorCode::Internal, "the kernel library's index is damaged"};
  }
  for (LibraryKernel &kernel : *index) {
    if (kernel.name == name || (name.empty() && index->size() == 1)) {
      return std::make_shared<PrecompiledKernel>(library, std::move(kernel));
    }
  }
  return noKernel(*index, name);
}

KernelDescription describePrecompiled(const LibraryKernel &kernel) {
  KernelDescription description;
  description.name = kernel.name;
  description.location = kernel.location;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    ParameterDescription p;
    p.name = kernel.parameters[i].name;
    p.location = kernel.parameters[i].location;
    const ArgumentSpec &first = kernel.signatures[0].arguments[i];
    bool allEqual = true, allConstant = true, oneType = true;
    for (const LibrarySignature &signature : kernel.signatures) {
      const ArgumentSpec &spec = signature.arguments[i];
      auto *runtime = std::get_if<RuntimeArgument>(&spec);
      allEqual &= spec == first;
      allConstant &= !runtime;
      oneType &= runtime && !runtime->isPointer &&
                 std::holds_alternative<RuntimeArgument>(first) &&
                 runtime->dtype == std::get<RuntimeArgument>(first).dtype;
    }
    // As if annotated: a number of another type is converted or refused.
    if (oneType) {
      p.dtype = std::get<RuntimeArgument>(first).dtype;
    }
    p.isStatic = allConstant;
    if (allConstant && allEqual && !kernel.isTuned(p.name)) {
      p.defaultValue = std::get<StaticValue>(first);
    }
    description.parameters.push_back(std::move(p));
  }
  for (const LibraryChoice &choice : kernel.choices) {
    description.configs.push_back(choice.config);
    for (const auto &[name, value] : choice.key) {
      if (std::find(description.tuneKey.begin(), description.tuneKey.end(),
                    name) == description.tuneKey.end()) {
        description.tuneKey.push_back(name);
      }
    }
  }
  return description;
}

/// How far a launch is from what was tuned: sizes by their ratio, what is no
/// number by whether it is the same; another device or type counts most.
static double distance(const TuningKey &key, const std::string &device,
                       const LibraryChoice &choice) {
  // "NVIDIA H200 (sm_90a)": the same architecture is nearer than another.
  auto family = [](const std::string &name) {
    return name.substr(std::min(name.rfind('('), name.size()));
  };
  constexpr double otherDevice = 1e3, otherFamily = 1e6, otherType = 1e9,
                   otherValue = 1e2;
  double sum = choice.device == device                   ? 0
               : family(choice.device) == family(device) ? otherDevice
                                                         : otherFamily;
  for (const auto &[name, dtype] : choice.dtypes) {
    auto own = key.dtypes.find(name);
    sum += own != key.dtypes.end() && own->second == dtype ? 0 : otherType;
  }
  for (const auto &[name, value] : choice.key) {
    auto own = key.values.find(name);
    const int64_t *tuned = std::get_if<int64_t>(&value.value),
                  *given = own == key.values.end()
                               ? nullptr
                               : std::get_if<int64_t>(&own->second.value);
    if (tuned && given && *tuned > 0 && *given > 0) {
      sum += std::fabs(
          std::log2(static_cast<double>(*given) / static_cast<double>(*tuned)));
    } else if (own == key.values.end() || !(own->second == value)) {
      sum += otherValue;
    }
  }
  return sum;
}

const ConfigDescription &nearestChoice(const LibraryKernel &kernel,
                                       const TuningKey &key) {
  std::string device = tuningDevice(key.device);
  return std::min_element(kernel.choices.begin(), kernel.choices.end(),
                          [&](const auto &a, const auto &b) {
                            return distance(key, device, a) <
                                   distance(key, device, b);
                          })
      ->config;
}

//===----------------------------------------------------------------------===//
// Choosing an image
//===----------------------------------------------------------------------===//

int rankOnGpu(const KernelImage &image, int major, int minor) {
  std::string_view target = image.target;
  int number = 0;
  if (!target.starts_with("sm_")) {
    return -1;
  }
  const char *end = target.data() + target.size();
  const char *suffix = std::from_chars(target.data() + 3, end, number).ptr;
  bool isForThatAlone = suffix != end;
  int device = 10 * major + minor;
  bool isExact = number == device;
  if (isForThatAlone && !isExact) {
    return -1;
  }
  if (image.format == ImageFormat::GpuBinary) {
    if (number / 10 != major || number > device) {
      return -1;
    }
    return (isExact ? 30000 : 20000) + number + isForThatAlone;
  }
  return number <= device ? 10000 + 2 * number + isForThatAlone : -1;
}

int rankOnHip(const KernelImage &image, std::string_view architecture) {
  return image.format == ImageFormat::GpuBinary && image.target == architecture
             ? 1
             : -1;
}

int rankOnHost(const KernelImage &image, int level) {
  for (const cpu::CpuTarget &target : cpu::levels()) {
    if (image.target == target.name) {
      return target.level <= level ? target.level : -1;
    }
  }
  return -1;
}

namespace {
struct Candidate {
  int rank;
  KernelImage image;
  const LibraryImage &place;
};
} // namespace

/// Names what there is, and what to add.
static Failure noImage(const PrecompiledKernel &precompiled,
                       const LibrarySignature &signature, Device device,
                       const std::string &target) {
  std::string list;
  for (uint32_t i : signature.images) {
    const LibraryImage &entry = precompiled.library.images[i];
    if (auto image = decodeImage(textOf(entry.bytes, entry.size))) {
      list += (list.empty() ? "" : ", ") + image->target +
              (image->format == ImageFormat::GpuAssembly ? " (PTX)" : "");
    }
  }
  std::string message = "kernel '" + precompiled.kernel.name +
                        "' was compiled ahead of time for " + list + "; " +
                        device.str();
  if (device.kind() == Device::Kind::Interp) {
    message += " needs its source and the compiler";
  } else {
    message += " is " + target +
               ", which runs none of these: compile the kernels for one more "
               "target, " +
               target;
  }
  return {ErrorCode::Unsupported, std::move(message), {}};
}

static Failure damagedImage(const PrecompiledKernel &precompiled) {
  return {ErrorCode::Internal, "an image of kernel '" +
                                   precompiled.kernel.name +
                                   "' in the kernel library is damaged"};
}

/// The images that the device can run.
static Expected<std::vector<Candidate>>
candidatesFor(const PrecompiledKernel &precompiled,
              const LibrarySignature &signature, Device device) {
  gpu::DeviceState *gpu = nullptr;
  std::string target;
  int level = 0;
  if (device.kind() == Device::Kind::Cpu) {
    Expected<cpu::CpuTarget> host = cpu::deviceTarget();
    if (!host.ok()) {
      return host.failure();
    }
    target = host->name;
    level = host->level;
  } else if (!device.isHost()) {
    Expected<gpu::DeviceState *> state = gpu::DeviceState::get(device);
    if (!state.ok()) {
      return state.failure();
    }
    gpu = *state;
    target = gpu->properties.target();
  }
  std::vector<Candidate> candidates;
  for (uint32_t i : signature.images) {
    const LibraryImage &entry = precompiled.library.images[i];
    auto image = decodeImage(textOf(entry.bytes, entry.size));
    if (!image) {
      return damagedImage(precompiled);
    }
    int rank =
        gpu && gpu->isHip() ? rankOnHip(*image, target)
        : gpu ? rankOnGpu(*image, gpu->properties.major, gpu->properties.minor)
        : device.kind() == Device::Kind::Cpu && entry.entry
            ? rankOnHost(*image, level)
            : -1;
    if (rank >= 0) {
      candidates.push_back({rank, std::move(*image), entry});
    }
  }
  if (candidates.empty()) {
    return noImage(precompiled, signature, device, target);
  }
  return candidates;
}

Expected<Context::State::Obtained>
obtainPrecompiled(KernelState &kernel, size_t signature, Device device) {
  PrecompiledKernel &precompiled = *kernel.precompiled;
  auto place = std::pair(signature, placeOf(device));
  auto known = precompiled.loaded.find(place);
  if (known != precompiled.loaded.end() && device != Device::interp()) {
    return Context::State::Obtained{known->second, CompiledInfo::Origin::Memory,
                                    0};
  }
  const LibrarySignature &chosen = precompiled.kernel.signatures[signature];
  auto candidates = candidatesFor(precompiled, chosen, device);
  if (!candidates.ok()) {
    return candidates.failure();
  }
  // A driver older than the assembler refuses its machine code, and may yet
  // assemble the PTX beside it.
  std::optional<Failure> first;
  for (size_t left = candidates->size(); left; --left) {
    auto best = std::max_element(
        candidates->begin(), candidates->end(),
        [](const Candidate &a, const Candidate &b) { return a.rank < b.rank; });
    best->rank = -1;
    if (best->place.codeSize) {
      auto code = unpackCode(precompiled.library, best->place);
      if (!code) {
        return damagedImage(precompiled);
      }
      best->image.code = std::move(*code);
    }
    auto obtained = kernel.context.loadPrecompiled(
        std::move(best->image), best->place.entry, chosen.options, device);
    if (obtained.ok()) {
      precompiled.loaded[place] = obtained->loaded;
      return obtained;
    }
    if (logEnabled(LogTopic::Compile)) {
      logLine(LogTopic::Compile,
              obtained.failure().message + "; the next image is tried, if any");
    }
    first = first ? first : obtained.failure();
  }
  return *first;
}

} // namespace nereid
