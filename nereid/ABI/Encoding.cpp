//===- Encoding.cpp - Values and images as bytes --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/Encoding.h"

#include "nereid/ABI/Decoder.h"

namespace nereid {

Encoder &Encoder::add(const StaticValue &value) {
  add(static_cast<uint8_t>(value.value.index()));
  struct Visitor {
    Encoder &out;
    void operator()(StaticValue::None) {}
    void operator()(bool v) { out.add(v); }
    void operator()(int64_t v) { out.add(v); }
    void operator()(uint64_t v) { out.add(v); }
    void operator()(double v) { out.add(v); }
    void operator()(const std::string &v) { out.add(v); }
    void operator()(DType v) { out.add(v); }
    void operator()(const StaticValue::Function &v) {
      out.add(v.name).add(v.hash);
    }
    void operator()(const StaticValue::Tuple &v) {
      out.add(static_cast<uint64_t>(v.size()));
      for (const StaticValue &item : v) {
        out.add(item);
      }
    }
    void operator()(const StaticValue::Dict &v) {
      out.add(static_cast<uint64_t>(v.size()));
      for (const auto &[name, item] : v) {
        out.add(name).add(item);
      }
    }
  };
  std::visit(Visitor{*this}, value.value);
  return *this;
}

Encoder &Encoder::add(const SourceLocation &l) {
  return add(l.file).add(l.line).add(l.column).add(l.endLine).add(l.endColumn);
}

Encoder &Encoder::add(const Diagnostic &d) {
  add(d.severity).add(d.location).add(d.message).add(d.sourceLine).add(d.hint);
  add(static_cast<uint64_t>(d.notes.size()));
  for (const Diagnostic &note : d.notes) {
    add(note);
  }
  return *this;
}

Encoder &Encoder::add(const ArgumentSpec &spec) {
  add(static_cast<uint8_t>(spec.index()));
  if (auto *value = std::get_if<StaticValue>(&spec)) {
    return add(*value);
  }
  if (auto *composite = std::get_if<CompositeArgument>(&spec)) {
    return add(*composite);
  }
  const auto &argument = std::get<RuntimeArgument>(spec);
  return add(argument.dtype)
      .add(argument.isPointer)
      .add(argument.isConst)
      .add(argument.divisibleBy16);
}

Encoder &Encoder::add(const CompositeArgument &c) {
  add(c.kind).add(c.type).add(c.padsWithNan);
  add(static_cast<uint64_t>(c.names.size()));
  for (const std::string &name : c.names) {
    add(name);
  }
  add(static_cast<uint64_t>(c.blockShape.size()));
  for (int64_t size : c.blockShape) {
    add(size);
  }
  add(static_cast<uint64_t>(c.items.size()));
  for (const ArgumentSpec &item : c.items) {
    add(item);
  }
  return *this;
}

Encoder &Encoder::add(const CompileOptions &o) {
  return add(o.numWarps)
      .add(o.numStages)
      .add(o.numCtas)
      .add(o.maxRegisters)
      .add(o.minRegisters)
      .add(o.wavesPerUnit)
      .add(o.matrixSize)
      .add(o.fpFusion)
      .add(o.checks)
      .add(o.tensorMaps);
}

std::string encodeImage(const KernelImage &image) {
  Encoder out;
  out.add(image.version).add(image.format);
  out.add(image.kernel).add(image.entry).add(image.target);
  out.add(static_cast<uint64_t>(image.parameters.size()));
  for (const ImageParameter &p : image.parameters) {
    out.add(p.name)
        .add(p.dtype)
        .add(p.isPointer)
        .add(p.isConst)
        .add(p.isWritten);
  }
  out.add(static_cast<uint64_t>(image.sites.size()));
  for (const ImageSite &s : image.sites) {
    out.add(s.kind).add(s.message).add(s.location).add(s.sourceLine);
    out.add(s.dtype).add(static_cast<uint64_t>(s.shape.size()));
    for (int64_t size : s.shape) {
      out.add(size);
    }
    out.add(s.hex).add(s.parameter).add(s.elementBytes);
  }
  out.add(image.programsWait);
  out.add(image.scratchBytes).add(image.sharedBytes);
  out.add(image.numWarps).add(image.threadsPerBlock);
  out.add(image.hasFaultRecord).add(image.numRegisters);
  out.add(static_cast<uint64_t>(image.tensorMaps.size()));
  for (const TensorMapSource &map : image.tensorMaps) {
    out.add(map.base).add(map.elementBytes).add(map.swizzleBytes);
    for (const std::vector<int64_t> *list : {&map.box, &map.numbers}) {
      out.add(static_cast<uint64_t>(list->size()));
      for (int64_t number : *list) {
        out.add(number);
      }
    }
  }
  out.add(image.spillBytes).add(image.localBytes);
  out.add(static_cast<uint64_t>(image.stageTimes.size()));
  for (const auto &[stage, milliseconds] : image.stageTimes) {
    out.add(stage).add(milliseconds);
  }
  out.add(static_cast<uint64_t>(image.warnings.size()));
  for (const Diagnostic &d : image.warnings) {
    out.add(d);
  }
  out.add(std::string_view(reinterpret_cast<const char *>(image.code.data()),
                           image.code.size()));
  return std::move(out.bytes);
}

namespace {
struct ImageDecoder : Decoder {
  using Decoder::get;

  void get(Diagnostic &d, int depth = 0) {
    get(d.severity, Severity::Remark);
    get(d.location);
    get(d.message);
    get(d.sourceLine);
    get(d.hint);
    bad |= depth > 100;
    list(d.notes, [&](Diagnostic &note) {
      if (!bad) {
        get(note, depth + 1);
      }
    });
  }
  void get(ImageParameter &p) {
    get(p.name);
    get(p.dtype, DType::Float64);
    get(p.isPointer);
    get(p.isConst);
    get(p.isWritten);
  }
  void get(TensorMapSource &map) {
    get(map.base);
    get(map.elementBytes);
    get(map.swizzleBytes);
    list(map.box, [&](int64_t &size) { get(size); });
    list(map.numbers, [&](int64_t &number) { get(number); });
  }
  void get(ImageSite &s) {
    get(s.kind, ImageSite::Kind::Nan);
    get(s.message);
    get(s.location);
    get(s.sourceLine);
    get(s.dtype, DType::Float64);
    list(s.shape, [&](int64_t &size) { get(size); });
    get(s.hex);
    get(s.parameter);
    get(s.elementBytes);
  }
};
} // namespace

std::optional<KernelImage> decodeImage(std::string_view bytes) {
  ImageDecoder in{{bytes}};
  KernelImage image;
  in.get(image.version);
  if (image.version != kernelImageVersion) {
    return std::nullopt;
  }
  in.get(image.format, ImageFormat::GpuBinary);
  in.get(image.kernel);
  in.get(image.entry);
  in.get(image.target);
  in.list(image.parameters, [&](ImageParameter &p) { in.get(p); });
  in.list(image.sites, [&](ImageSite &s) { in.get(s); });
  in.get(image.programsWait);
  in.get(image.scratchBytes);
  in.get(image.sharedBytes);
  in.get(image.numWarps);
  in.get(image.threadsPerBlock);
  in.get(image.hasFaultRecord);
  in.get(image.numRegisters);
  in.list(image.tensorMaps, [&](TensorMapSource &map) { in.get(map); });
  in.get(image.spillBytes);
  in.get(image.localBytes);
  in.list(image.stageTimes, [&](std::pair<std::string, double> &stage) {
    in.get(stage.first);
    in.get(stage.second);
  });
  in.list(image.warnings, [&](Diagnostic &d) { in.get(d); });
  std::string_view code = in.view();
  auto *first = reinterpret_cast<const std::byte *>(code.data());
  image.code.assign(first, first + code.size());
  if (in.bad || !in.rest.empty()) {
    return std::nullopt;
  }
  return image;
}

} // namespace nereid
