//===- Checkpoint.cpp - Reading checkpoints -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"

#include "apps/gpt2/checkpoint/CheckpointFiles.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/checkpoint/NanoGpt.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <filesystem>

using namespace nereid;
using namespace nereid::gpt2;

static std::string stateName(const std::string &folder) {
  return folder + "/state.json";
}

/// A folder of nanoGPT's, where nothing of ours was saved yet: its file.
static std::optional<std::string> nanoGptIn(const std::string &folder) {
  std::error_code error;
  std::string path = folder + "/" + nanoGptFile;
  bool isIt = !std::filesystem::exists(stateName(folder), error) &&
              std::filesystem::exists(path, error);
  return isIt ? std::optional(path) : std::nullopt;
}

bool gpt2::hasCheckpoint(const std::string &folder) {
  std::error_code error;
  return std::filesystem::exists(stateName(folder), error) || nanoGptIn(folder);
}

static std::string readState(const std::string &folder) {
  Expected<std::string> text = readFile(stateName(folder));
  if (!text.ok() && text.failure().code == ErrorCode::NotFound) {
    raise({ErrorCode::NotFound,
           "'" + folder +
               "': expected a checkpoint (state.json), got none; train one "
               "first, or name the folder with --out_dir",
           {}});
  }
  return valueOrThrow(std::move(text));
}

static std::vector<NamedTensor> readTensors(const std::string &folder,
                                            const NamedFile &named) {
  std::string path = folder + "/" + named.name;
  constexpr const char *advice =
      "; take the whole folder from a copy, or start again with "
      "--init_from=scratch";
  auto refuse = [&](const std::string &why) {
    raise({ErrorCode::InvalidArgument, "'" + path + "': " + why + advice, {}});
  };
  std::error_code error;
  uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    refuse("the checkpoint is not complete: expected this file, as state.json "
           "says, got " +
           (error == std::errc::no_such_file_or_directory ? "none"
                                                          : error.message()));
  }
  if (bytes != named.bytes) {
    refuse("the checkpoint is damaged: expected " +
           std::to_string(named.bytes) + " bytes, as state.json says, got " +
           std::to_string(bytes));
  }
  std::optional<SafetensorsFile> file;
  try {
    file.emplace(path);
  } catch (const Error &failure) {
    raise({failure.code(), failure.message() + advice, {}});
  }
  if (file->digest().hex() != named.digest) {
    refuse("the checkpoint is damaged: expected the checksum that state.json "
           "has, got another");
  }
  return file->tensors();
}

Checkpoint gpt2::loadCheckpoint(const std::string &folder) {
  if (std::optional<std::string> file = nanoGptIn(folder)) {
    return loadNanoGpt(*file);
  }
  std::string text = readState(folder);
  while (true) {
    StateFile file = parseState(text, stateName(folder));
    try {
      return {transposed(readTensors(folder, file.weights)),
              readTensors(folder, file.optimizer), std::move(file.state)};
    } catch (const Error &) {
      // A process that trains may have replaced the set meanwhile.
      std::string now = readState(folder);
      if (now == text) {
        throw;
      }
      text = std::move(now);
    }
  }
}

TrainingState gpt2::loadTrainingState(const std::string &folder) {
  if (std::optional<std::string> file = nanoGptIn(folder)) {
    return loadNanoGpt(*file).state;
  }
  return parseState(readState(folder), stateName(folder)).state;
}

void gpt2::copyInto(std::span<const NamedTensor> to,
                    std::span<const NamedTensor> values,
                    const std::string &what, const std::string &path) {
  auto refuse = [&](const std::string &name, const std::string &why) {
    raise({ErrorCode::InvalidArgument,
           "'" + path + "': " + what + " '" + name + "': " + why,
           {}});
  };
  std::map<std::string_view, const Tensor *> found;
  for (const NamedTensor &value : values) {
    found[value.name] = &value.tensor;
  }
  std::vector<const Tensor *> sources;
  for (const NamedTensor &one : to) {
    auto value = found.find(one.name);
    if (value == found.end()) {
      refuse(one.name, "expected " + one.tensor.str() + ", got none");
    }
    const Tensor &from = *value->second;
    if (from.shape() != one.tensor.shape() ||
        from.dtype() != one.tensor.dtype()) {
      refuse(one.name,
             "expected " + one.tensor.str() + ", got " + from.str() +
                 "; the options must be those that the checkpoint was made "
                 "with");
    }
    sources.push_back(&from);
    found.erase(value);
  }
  if (!found.empty()) {
    refuse(std::string(found.begin()->first),
           "nothing takes this tensor; the options must be those that the "
           "checkpoint was made with");
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    to[i].tensor.copyFrom(*sources[i]);
  }
}
