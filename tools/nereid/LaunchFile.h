//===- LaunchFile.h - A launch as a JSON document ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a launch can say, in the format of docs/LaunchFile.md: the
// kernel, the grid, memory as storages and tensors as views of them, arguments
// of every kind, options, and the files that memory is written to afterwards.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_LAUNCHFILE_H
#define NEREID_TOOLS_NEREID_LAUNCHFILE_H

#include "JsonReader.h"

#include "nereid/nereid.h"

#include "nereid/Support/Files.h"

#include <filesystem>
#include <functional>

namespace nereid {

/// An element of a storage that holds an address of this run.
struct PointerEntry {
  int64_t at = 0; ///< byte of the storage that it stands at
  size_t storage = 0;
  int64_t offset = 0; ///< of the address, in bytes of that storage
};

/// A piece of memory. Contents are bytes; nothing says here what they mean.
struct LaunchStorage {
  enum class Content { Fill, Raw, Inline, Array };
  Content content = Content::Fill;
  int64_t bytes = -1; ///< -1: as many as the content has
  uint8_t fill = 0;
  std::string path;  ///< Raw
  std::string data;  ///< Inline
  std::string array; ///< Array: as on the command line, "randn:f32[8]"
  uint64_t seed = 0;
  int64_t skew = 0; ///< its first byte lies so far past a multiple of 256
  std::vector<PointerEntry> pointers;
  std::string out; ///< file for the bytes after the launch; may be empty
  std::string place;
};

/// A tensor as a view.
struct LaunchView {
  DType dtype = DType::Float32;
  Shape shape;
  std::optional<Shape> strides; ///< in elements; row-major when absent
  size_t storage = 0;
  int64_t offset = 0; ///< in bytes
};

struct LaunchValue {
  enum class Kind { Plain, Tensor, Descriptor, Tuple, Function };
  Kind kind = Kind::Plain;
  StaticValue plain;
  LaunchView view;             ///< of a tensor, or a descriptor's base
  Shape shape, strides, block; ///< of a descriptor
  std::string padding = "zero";
  std::vector<LaunchValue> items; ///< of a tuple
  std::vector<std::string> names; ///< of a named tuple
  std::string text;               ///< a function's name; a named tuple's type
  std::string place;
};

struct LaunchDescription {
  std::string source; ///< file, or file and line: for messages
  std::string file, kernel;
  std::map<std::string, StaticValue> bindings;
  std::string device; ///< may be empty
  std::vector<int64_t> grid;
  std::vector<LaunchStorage> storages;
  std::vector<std::pair<std::string, LaunchValue>> arguments, options;
  int64_t repeat = 0; ///< launches to time
  std::string id;     ///< repeated in the result
};

/// Reads one launch. Relative paths are relative to `folder`. Throws
/// Error(InvalidArgument) for whatever does not have the format.
LaunchDescription readLaunch(const JsonReader &json,
                             const std::filesystem::path &folder);

/// What `nereid run --launch` was asked for.
struct LaunchFileOptions {
  std::vector<std::string> files; ///< "-": lines of standard input
  std::optional<std::string> device;
  std::string results;  ///< file for the results; empty: standard output
  bool check = false;   ///< by the reference executor's bounds (docs/Check.md)
  double tolerance = 0; ///< of the check
  OutputFiles outputs;  ///< that no launch may write to
};

/// One launch in one .json file runs as `nereid run` does: what goes wrong is
/// thrown. Otherwise every launch gives one line of JSON, and what is wrong
/// with one does not end the others. Returns the exit code.
int runLaunchFiles(const LaunchFileOptions &options);

/// Runs a launch and writes its outputs. The result of --time, or null. Tells
/// `warn` of accesses outside the launch's memory before it runs.
JsonReader::Json runLaunch(const LaunchDescription &launch, Device device,
                           const LaunchFileOptions &options,
                           const std::function<void(const Diagnostic &)> &warn);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_LAUNCHFILE_H
