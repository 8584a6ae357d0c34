//===- Crash.cpp - What a kernel that a signal stopped is reported as -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/fault/Crash.h"

#include "nereid/Runtime/launch/Composite.h"
#include "nereid/Runtime/launch/Specialize.h"

#include <sstream>

namespace nereid {

static constexpr const char *advice =
    "NEREID_CHECK=oob stops at the first access outside of the arrays and says "
    "which one it is";

//===----------------------------------------------------------------------===//
// The line
//===----------------------------------------------------------------------===//

/// What the code of this launch was compiled from.
static std::optional<CompileRequest> requestOf(const LaunchBinding &binding,
                                               const KernelImage &image) {
  CompileRequest request;
  request.source = binding.kernel.source;
  request.kernel = binding.kernel.description.name;
  request.options = binding.options;
  request.target = image.target;
  request.emit = "lines";
  for (size_t i = 0; i < binding.size(); ++i) {
    const ParameterDescription &parameter =
        binding.kernel.description.parameters[i];
    const Argument &argument = *binding.get(i);
    if (isComposite(parameter, argument)) {
      std::vector<Specialized> leaves;
      WordKey key;
      if (specializeComposite(parameter, argument, leaves, key).mismatch !=
          ArgumentMismatch::None) {
        return std::nullopt;
      }
      const Specialized *leaf = leaves.data();
      request.arguments.push_back(specOfComposite(argument, leaf));
      continue;
    }
    Specialized specialized;
    if (specialize(parameter, argument, specialized) !=
        ArgumentMismatch::None) {
      return std::nullopt;
    }
    request.arguments.push_back(specOf(specialized, argument));
  }
  return request;
}

/// The row of a table of places (Target/CPU/LineTable.h) that holds `offset`.
static SourceLocation findRow(const std::string &table, int64_t offset) {
  SourceLocation place, found;
  int64_t begin = 0;
  std::istringstream rows(table);
  bool isInside = false;
  for (std::string row; std::getline(rows, row);) {
    std::istringstream words(row);
    words >> begin;
    if (begin > offset) {
      return isInside ? found : SourceLocation();
    }
    place = SourceLocation();
    words >> place.line >> place.column >> place.endLine >> place.endColumn;
    words.get();
    std::getline(words, place.file);
    found = place;
    isInside = true;
  }
  return SourceLocation(); // past the code's end
}

static SourceLocation findPlace(const LaunchBinding &binding,
                                const Specialization &specialization,
                                const KernelSignal &signal) {
  const LoadedImage &loaded = *specialization.loaded;
  KernelCompiler *compiler = binding.kernel.context.compiler.get();
  if (!compiler || binding.kernel.precompiled) {
    return {};
  }
  std::optional<CompileRequest> request = requestOf(binding, loaded.image);
  if (!request) {
    return {};
  }
  Expected<CompileResult> lines = compiler->compile(*request);
  if (!lines.ok()) {
    return {};
  }
  auto entry = reinterpret_cast<uint64_t>(loaded.code.entry);
  SourceLocation place =
      findRow(lines->stage, static_cast<int64_t>(signal.instruction - entry));
  // A call returns after itself.
  return place.line
             ? place
             : findRow(lines->stage,
                       static_cast<int64_t>(signal.returnsTo - 1 - entry));
}

//===----------------------------------------------------------------------===//
// The array
//===----------------------------------------------------------------------===//

static std::string bytesText(uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// ": 96 bytes past the end of 'x_ptr', which is fp32[1000] (element 1024)".
static std::string nearestArray(const LaunchBinding &binding,
                                uint64_t address) {
  std::string text;
  uint64_t nearest = UINT64_MAX;
  forEachTensor(binding, [&](const std::string &parameter,
                             const Tensor &tensor) {
    auto begin = reinterpret_cast<uint64_t>(tensor.data());
    uint64_t end = begin + static_cast<uint64_t>(tensor.extentBytes());
    bool isBefore = address < begin;
    uint64_t distance = isBefore         ? begin - address
                        : address >= end ? address - end
                                         : 0;
    if (distance >= nearest) {
      return;
    }
    nearest = distance;
    uint64_t bytes = byteSize(tensor.dtype());
    std::string element =
        isBefore ? "-" + std::to_string((begin - address + bytes - 1) / bytes)
                 : std::to_string((address - begin) / bytes);
    std::string name = "'" + parameter + "', which is " + tensor.str();
    text = isBefore         ? bytesText(distance) + " in front of " + name
           : address >= end ? bytesText(distance) + " past the end of " + name
                            : "inside of " + name;
    text += " (element " + element + ")";
  });
  return text;
}

Failure crashFailure(const LaunchBinding &binding,
                     const Specialization &specialization,
                     const KernelSignal &signal) {
  const std::string &kernel = binding.kernel.description.name;
  Failure failure{
      ErrorCode::KernelFault, kernel + ": the kernel was stopped", {}};
  Diagnostic d;
  d.location = findPlace(binding, specialization, signal);
  if (d.location.file == binding.kernel.source.path) {
    d.sourceLine = binding.kernel.sourceLine(d.location.line);
  }
  d.message = describeSignal(signal) + " in kernel '" + kernel + "'";
  d.hint = advice;
  if (signal.hasAddress) {
    if (std::string array = nearestArray(binding, signal.address);
        !array.empty()) {
      Diagnostic note;
      note.severity = Severity::Note;
      note.message = "the nearest array: the address is " + array;
      d.notes.push_back(std::move(note));
    }
  }
  failure.diagnostics.push_back(std::move(d));
  return failure;
}

std::string crashScene(const LaunchBinding &binding) {
  std::ostringstream text;
  text << " in kernel '" << binding.kernel.description.name << "' on "
       << binding.device.str();
  forEachTensor(binding, [&](const std::string &name, const Tensor &tensor) {
    auto begin = reinterpret_cast<uint64_t>(tensor.data());
    text << "\nnote: '" << name << "', " << tensor.str() << ", lies at 0x"
         << std::hex << begin << " to 0x"
         << begin + static_cast<uint64_t>(tensor.extentBytes()) << std::dec;
  });
  text << "\nhint: " << advice;
  return text.str();
}

} // namespace nereid
