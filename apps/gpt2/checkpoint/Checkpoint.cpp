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

#include <algorithm>
#include <cstdio>
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

std::optional<StateFile> gpt2::findState(const std::string &folder) {
  Expected<std::string> text = readFile(stateName(folder));
  if (!text.ok() && text.failure().code == ErrorCode::NotFound) {
    return std::nullopt;
  }
  return parseState(valueOrThrow(std::move(text)), stateName(folder));
}

std::vector<uint64_t> gpt2::stepsBehind(const std::string &folder,
                                        uint64_t step) {
  std::vector<uint64_t> steps;
  std::optional<StateFile> file = findState(folder);
  if (!file) {
    return steps;
  }
  file->older.insert(file->older.begin(), file->last);
  for (const SavedSet &set : file->older) {
    bool isBest = file->best && file->best->weights.name == set.weights.name;
    if (set.state.step > step && !isBest) {
      steps.push_back(set.state.step);
    }
  }
  return steps;
}

[[noreturn]] static void refuse(const std::string &path, const std::string &why,
                                const std::string &advice = "") {
  raise({ErrorCode::IoError, "'" + path + "': " + why + advice, {}});
}

static SafetensorsFile openTensors(const std::string &folder,
                                   const NamedFile &named,
                                   const std::string &advice) {
  std::string path = folder + "/" + named.name;
  std::error_code error;
  uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    refuse(path,
           "the checkpoint is not complete: expected this file, as state.json "
           "says, got " +
               (error == std::errc::no_such_file_or_directory
                    ? "none"
                    : error.message()),
           advice);
  }
  if (bytes != named.bytes) {
    refuse(path,
           "the checkpoint is damaged: expected " +
               std::to_string(named.bytes) +
               " bytes, as state.json says, got " + std::to_string(bytes),
           advice);
  }
  std::optional<SafetensorsFile> file;
  try {
    file.emplace(path);
  } catch (const Error &failure) {
    raise({failure.code(), failure.message() + advice, {}});
  }
  if (file->digest().hex() != named.digest) {
    refuse(path,
           "the checkpoint is damaged: expected the checksum that state.json "
           "has, got another",
           advice);
  }
  return *file;
}

static std::vector<NamedTensor> readWeights(const std::string &folder,
                                            const SavedSet &set) {
  SafetensorsFile file =
      openTensors(folder, set.weights,
                  "; take the whole folder from a copy, or start again with "
                  "--init_from=scratch and another --out_dir");
  // What state.json says of them, they say themselves.
  const Metadata &metadata = file.metadata();
  auto says = [&](const char *key, const std::string &value) {
    auto found = metadata.find(key);
    return found == metadata.end() || found->second == value;
  };
  if (!says("step", std::to_string(set.state.step)) ||
      !says("config", set.state.model.dump())) {
    refuse(stateName(folder),
           "the checkpoint is damaged: expected the step and the model that " +
               set.weights.name + " has, got others");
  }
  return transposed(file.tensors());
}

static std::vector<NamedTensor> readOptimizer(const std::string &folder,
                                              const NamedFile &named) {
  return openTensors(folder, named,
                     "; the weights are whole: --init_from=" + folder +
                         " with another --out_dir begins a run with them")
      .tensors();
}

static std::string describe(const SavedSet &set) {
  std::string text = "step " + std::to_string(set.state.step);
  if (set.state.loss) {
    char loss[64];
    std::snprintf(loss, sizeof(loss), " (validation loss %.4f)",
                  *set.state.loss);
    text += loss;
  }
  return text;
}

namespace {
struct Chosen {
  SavedSet set;
  std::string choice; ///< as people are shown it
};
} // namespace

static Chosen chooseSet(const StateFile &file, const std::string &which,
                        const std::string &folder) {
  auto chosen = [](const SavedSet &set, const std::string &what,
                   const std::string &more = "") {
    return Chosen{set, what + ", of " + describe(set) + more};
  };
  const std::optional<SavedSet> &best = file.best;
  if (which.empty() && best && best->weights.name == file.last.weights.name) {
    return chosen(*best, "the best and last checkpoint");
  }
  if (which == "last" || (which.empty() && !best)) {
    return chosen(file.last, "the last checkpoint");
  }
  if (best && (which == "best" || which.empty())) {
    return chosen(*best, "the best checkpoint",
                  which.empty()
                      ? "; --checkpoint=last is of " + describe(file.last)
                      : "");
  }
  std::string there =
      "last (step " + std::to_string(file.last.state.step) + ")";
  if (best) {
    there += ", best (step " + std::to_string(best->state.step) + ")";
  }
  for (const SavedSet &set : file.older) {
    there += ", " + std::to_string(set.state.step);
  }
  std::vector<const SavedSet *> all = {&file.last};
  if (best) {
    all.push_back(&*best);
  }
  for (const SavedSet &set : file.older) {
    all.push_back(&set);
  }
  for (const SavedSet *set : all) {
    if (std::to_string(set->state.step) == which) {
      return chosen(*set, "the checkpoint");
    }
  }
  raise({ErrorCode::NotFound,
         "'" + folder + "': expected one of its checkpoints, " + there +
             ", got '" + which + "'",
         {}});
}

/// Calls `read` with the set that is chosen, and again where a process that
/// trains has replaced it meanwhile.
static Checkpoint
readSet(const std::string &folder, const std::string &which,
        const std::function<Checkpoint(const SavedSet &)> &read) {
  std::string text = readState(folder);
  while (true) {
    StateFile file = parseState(text, stateName(folder));
    Chosen chosen = chooseSet(file, which, folder);
    TrainingState &state = chosen.set.state;
    if (file.best && file.best->state.bestLoss < state.bestLoss) {
      // It stays the best of a run that goes back to an earlier step.
      state.bestLoss = file.best->state.bestLoss;
      state.bestStep = file.best->state.bestStep;
    }
    try {
      Checkpoint checkpoint = read(chosen.set);
      checkpoint.state = std::move(chosen.set.state);
      checkpoint.choice = std::move(chosen.choice);
      return checkpoint;
    } catch (const Error &) {
      std::string now = readState(folder);
      if (now == text) {
        throw;
      }
      text = std::move(now);
    }
  }
}

/// There is one alone.
static Checkpoint ofNanoGpt(const std::string &file, const std::string &which) {
  Checkpoint checkpoint = loadNanoGpt(file);
  std::string step = std::to_string(checkpoint.state.step);
  if (!which.empty() && which != "last" && which != "best" && which != step) {
    raise({ErrorCode::NotFound,
           "'" + file + "': expected nanoGPT's one checkpoint, of step " +
               step + ", got '" + which + "'",
           {}});
  }
  checkpoint.isTakenOver = true;
  return checkpoint;
}

Checkpoint gpt2::loadCheckpoint(const std::string &folder,
                                const std::string &which) {
  if (std::optional<std::string> file = nanoGptIn(folder)) {
    return ofNanoGpt(*file, which);
  }
  return readSet(folder, which, [&](const SavedSet &set) {
    return Checkpoint{
        readWeights(folder, set), readOptimizer(folder, set.optimizer), {}, {}};
  });
}

Checkpoint gpt2::loadWeights(const std::string &folder,
                             const std::string &which) {
  return readSet(folder, which, [&](const SavedSet &set) {
    Checkpoint checkpoint{readWeights(folder, set), {}, {}, {}};
    auto rounded =
        std::ranges::find_if(checkpoint.weights, [](const NamedTensor &one) {
          return one.tensor.dtype() != f32;
        });
    if (rounded == checkpoint.weights.end()) {
      return checkpoint;
    }
    try {
      for (NamedTensor &one : readOptimizer(folder, set.optimizer)) {
        if (one.name.starts_with("master.")) {
          checkpoint.optimizer.push_back(std::move(one));
        }
      }
    } catch (const Error &error) {
      std::fprintf(stderr,
                   "note: %s; the weights are taken in %s, as they are\n",
                   error.message().c_str(),
                   rounded->tensor.dtype() == bf16 ? "bfloat16" : "float16");
    }
    return checkpoint;
  });
}

TrainingState gpt2::loadTrainingState(const std::string &folder,
                                      const std::string &which) {
  if (std::optional<std::string> file = nanoGptIn(folder)) {
    return ofNanoGpt(*file, which).state;
  }
  return chooseSet(parseState(readState(folder), stateName(folder)), which,
                   folder)
      .set.state;
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
