//===- Emit.cpp - Generated kernels as files ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/Emit.h"

#include "test/fuzz/source/Compile.h"

#include "nereid/Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::fuzz::source {

namespace json = llvm::json;

static Status write(const std::string &path,
                    llvm::function_ref<void(llvm::raw_ostream &)> content) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  content(stream);
  return writeFileAtomically(path, text);
}

static std::string hexOf(const void *bytes, size_t count) {
  return llvm::toHex(llvm::ArrayRef(static_cast<const uint8_t *>(bytes), count),
                     true);
}

static std::string nameOf(const Program &program, const Argument &argument) {
  return program.variables[argument.variable.index].name;
}

Status emitLaunch(const Program &program, mlir::ModuleOp module,
                  const std::string &folder, const std::string &name) {
  Status status = write(folder + "/" + name + ".py",
                        [&](llvm::raw_ostream &os) { os << print(program); });
  if (!status.ok()) {
    return status;
  }
  Arguments contents = makeArguments(kernelOf(module));
  size_t buffer = 0;
  json::Array storages;
  json::Object arguments;
  for (const Argument &argument : program.arguments) {
    std::string parameter = nameOf(program, argument);
    switch (argument.kind) {
    case Argument::Kind::Static:
    case Argument::Kind::Integer:
      arguments[parameter] = argument.integer;
      break;
    case Argument::Kind::Float:
      arguments[parameter] = json::Object{{"float", argument.number}};
      break;
    case Argument::Kind::Array: {
      const GuardedArray &array = *contents.buffers[buffer++].array;
      arguments[parameter] = json::Object{
          {"tensor",
           json::Object{{"dtype", std::string(shortName(argument.element))},
                        {"shape", json::Array{argument.count}},
                        {"storage", int64_t(storages.size())}}}};
      json::Object storage{{"hex", hexOf(array.data(), array.size())}};
      if (!argument.isAligned) {
        storage["skew"] = int64_t(byteSize(argument.element));
      }
      if (argument.isOutput) {
        storage["out"] = name + "." + parameter + ".bin";
      }
      storages.push_back(std::move(storage));
      break;
    }
    }
  }
  json::Object launch{
      {"kernel", name + ".py:" + kernelName},
      {"grid", json::Array{program.grid[0], program.grid[1], program.grid[2]}},
      {"storages", std::move(storages)},
      {"arguments", std::move(arguments)}};
  return write(folder + "/" + name + ".json", [&](llvm::raw_ostream &os) {
    os << json::Value(std::move(launch)) << "\n";
  });
}

/// One array: its bytes; and, where floats or doubtful integers were stored,
/// of each element the float64 value and the error allowed (NaN: these bits).
static json::Object expectedOf(const Arguments::Buffer &buffer,
                               const interp::Oracle &oracle) {
  const GuardedArray &array = *buffer.array;
  json::Object result{{"hex", hexOf(array.data(), array.size())}};
  uint64_t base = reinterpret_cast<uint64_t>(array.data());
  std::vector<double> values(size_t(buffer.count)),
      errors(size_t(buffer.count), std::numeric_limits<double>::quiet_NaN());
  bool any = false;
  for (int64_t i = 0; i < buffer.count; ++i) {
    auto stored = oracle.stored.find(base + uint64_t(i) * buffer.element.bytes);
    if (stored != oracle.stored.end()) {
      any = true;
      values[size_t(i)] = stored->second.value;
      errors[size_t(i)] = stored->second.error;
    }
  }
  if (any) {
    size_t bytes = size_t(buffer.count) * sizeof(double);
    result["values"] = hexOf(values.data(), bytes);
    result["errors"] = hexOf(errors.data(), bytes);
  }
  return result;
}

static Status emitExpected(const Program &program, const Reference &reference,
                           const std::string &folder, const std::string &name) {
  size_t buffer = 0;
  json::Object outputs;
  for (const Argument &argument : program.arguments) {
    if (argument.kind != Argument::Kind::Array) {
      continue;
    }
    const Arguments::Buffer &memory = reference.arguments().buffers[buffer++];
    if (argument.isOutput) {
      outputs[nameOf(program, argument)] =
          expectedOf(memory, reference.found());
    }
  }
  return write(folder + "/" + name + ".check.json", [&](llvm::raw_ostream &os) {
    os << json::Value(std::move(outputs)) << "\n";
  });
}

Status emit(const Program &program, mlir::ModuleOp module,
            const std::string &folder, const std::string &name) {
  Reference reference(module, /*judgesUpstream=*/true);
  if (!reference.isDefined() || reference.found().undecided) {
    return Status::success();
  }
  if (std::error_code error = llvm::sys::fs::create_directories(folder)) {
    return {ErrorCode::NotFound, folder + ": " + error.message()};
  }
  Status status = emitLaunch(program, module, folder, name);
  return status.ok() ? emitExpected(program, reference, folder, name) : status;
}

} // namespace nereid::fuzz::source
