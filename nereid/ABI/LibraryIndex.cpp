//===- LibraryIndex.cpp - What a library of kernels holds -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/LibraryIndex.h"

#include "nereid/ABI/Decoder.h"

namespace nereid {

static void addValues(Encoder &out,
                      const std::map<std::string, StaticValue> &values) {
  out.add(static_cast<uint64_t>(values.size()));
  for (const auto &[name, value] : values) {
    out.add(name).add(value);
  }
}

std::string encodeLibraryIndex(const LibraryIndex &index) {
  Encoder out;
  out.add(static_cast<uint64_t>(index.size()));
  for (const LibraryKernel &kernel : index) {
    out.add(kernel.name).add(kernel.path).add(kernel.location);
    out.add(static_cast<uint64_t>(kernel.parameters.size()));
    for (const LibraryParameter &p : kernel.parameters) {
      out.add(p.name).add(p.isStatic).add(p.location);
    }
    out.add(static_cast<uint64_t>(kernel.signatures.size()));
    for (const LibrarySignature &signature : kernel.signatures) {
      out.add(static_cast<uint64_t>(signature.arguments.size()));
      for (const ArgumentSpec &spec : signature.arguments) {
        out.add(spec);
      }
      out.add(signature.options);
      out.add(static_cast<uint64_t>(signature.images.size()));
      for (uint32_t image : signature.images) {
        out.add(image);
      }
    }
    out.add(static_cast<uint64_t>(kernel.choices.size()));
    for (const LibraryChoice &choice : kernel.choices) {
      addValues(out.add(choice.device), choice.key);
      out.add(static_cast<uint64_t>(choice.dtypes.size()));
      for (const auto &[name, dtype] : choice.dtypes) {
        out.add(name).add(dtype);
      }
      addValues(out, choice.config.values);
      out.add(choice.config.options);
    }
  }
  return std::move(out.bytes);
}

namespace {
struct IndexDecoder : Decoder {
  using Decoder::get;

  template <typename T>
  StaticValue number() {
    T value{};
    get(value);
    return value;
  }
  void get(StaticValue &value, int depth = 0) {
    uint8_t kind = 0;
    get(kind);
    bad |= depth > 100;
    if (bad) {
      return;
    }
    switch (kind) {
    case 0:
      value = StaticValue();
      return;
    case 1:
      value = number<bool>();
      return;
    case 2:
      value = number<int64_t>();
      return;
    case 3:
      value = number<double>();
      return;
    case 4:
      value = std::string(view());
      return;
    case 5: {
      DType dtype = DType::Int1;
      get(dtype, DType::Float64);
      value = dtype;
      return;
    }
    case 6: {
      StaticValue::Tuple items;
      list(items, [&](StaticValue &item) { get(item, depth + 1); });
      value = std::move(items);
      return;
    }
    case 8:
      value = number<uint64_t>();
      return;
    default:
      // A dict is no compile-time value of a kernel.
      bad = true;
    }
  }
  void get(ArgumentSpec &spec) {
    uint8_t kind = 0;
    get(kind);
    if (kind == 1) {
      StaticValue value;
      get(value);
      spec = std::move(value);
      return;
    }
    bad |= kind > 1;
    RuntimeArgument argument;
    get(argument.dtype, DType::Float64);
    get(argument.isPointer);
    get(argument.isConst);
    get(argument.divisibleBy16);
    spec = argument;
  }
  void get(CompileOptions &o) {
    get(o.numWarps);
    get(o.numStages);
    get(o.numCtas);
    get(o.maxRegisters);
    get(o.minRegisters);
    get(o.wavesPerUnit);
    get(o.matrixSize);
    get(o.fpFusion);
    get(o.checks);
    get(o.tensorMaps);
  }
  void get(LibraryParameter &p) {
    get(p.name);
    get(p.isStatic);
    get(p.location);
  }
  void get(LibrarySignature &signature) {
    list(signature.arguments, [&](ArgumentSpec &spec) { get(spec); });
    get(signature.options);
    list(signature.images, [&](uint32_t &image) { get(image); });
  }
  void get(std::map<std::string, StaticValue> &values) {
    std::vector<std::pair<std::string, StaticValue>> entries;
    list(entries, [&](auto &entry) {
      get(entry.first);
      get(entry.second);
    });
    values = {entries.begin(), entries.end()};
  }
  void get(LibraryChoice &choice) {
    get(choice.device);
    get(choice.key);
    std::vector<std::pair<std::string, DType>> dtypes;
    list(dtypes, [&](auto &entry) {
      get(entry.first);
      get(entry.second, DType::Float64);
    });
    choice.dtypes = {dtypes.begin(), dtypes.end()};
    get(choice.config.values);
    get(choice.config.options);
  }
  void get(LibraryKernel &kernel) {
    get(kernel.name);
    get(kernel.path);
    get(kernel.location);
    list(kernel.parameters, [&](LibraryParameter &p) { get(p); });
    list(kernel.signatures, [&](LibrarySignature &s) {
      get(s);
      bad |= s.arguments.size() != kernel.parameters.size();
    });
    list(kernel.choices, [&](LibraryChoice &choice) { get(choice); });
  }
};
} // namespace

std::optional<LibraryIndex> decodeLibraryIndex(std::string_view bytes) {
  IndexDecoder in{{bytes}};
  LibraryIndex index;
  in.list(index, [&](LibraryKernel &kernel) { in.get(kernel); });
  if (in.bad || !in.rest.empty()) {
    return std::nullopt;
  }
  return index;
}

bool isSameTuning(const CompileOptions &a, const CompileOptions &b) {
  return a.numWarps == b.numWarps && a.numStages == b.numStages &&
         a.numCtas == b.numCtas && a.maxRegisters == b.maxRegisters &&
         a.minRegisters == b.minRegisters && a.wavesPerUnit == b.wavesPerUnit &&
         a.matrixSize == b.matrixSize;
}

std::string str(const ArgumentSpec &spec) {
  if (auto *value = std::get_if<StaticValue>(&spec)) {
    return value->str();
  }
  if (auto *composite = std::get_if<CompositeArgument>(&spec)) {
    std::string text = "(";
    for (const ArgumentSpec &item : composite->items) {
      text += (text.size() > 1 ? ", " : "") + str(item);
    }
    return text + ")";
  }
  const auto &argument = std::get<RuntimeArgument>(spec);
  return std::string(argument.isPointer ? "*" : "") +
         (argument.isPointer && argument.isConst ? "k" : "") +
         std::string(shortName(argument.dtype)) +
         (argument.divisibleBy16 ? ":16" : "");
}

std::string str(const LibraryKernel &kernel,
                const LibrarySignature &signature) {
  std::string text;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    text += (i ? ", " : "") + kernel.parameters[i].name + "=" +
            str(signature.arguments[i]);
  }
  return text;
}

} // namespace nereid
