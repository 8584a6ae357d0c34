//===- CheckpointWriter.cpp - Writing checkpoints while training goes on --===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/checkpoint/CheckpointFiles.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"
#include "nereid/Weights/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// The files
//===----------------------------------------------------------------------===//

/// "ckpt-2000.safetensors", or with a count after it: the files of the present
/// state.json stay until another one is there.
static std::string freeName(const std::string &folder, const std::string &begin,
                            uint64_t step) {
  for (int count = 0;; ++count) {
    std::string name = begin + "-" + std::to_string(step) +
                       (count ? "-" + std::to_string(count) : "") +
                       ".safetensors";
    std::error_code error;
    if (!fs::exists(folder + "/" + name, error)) {
      return name;
    }
  }
}

/// A name that stays the same. Where a file system has no links, there is none.
static void linkWeights(const std::string &folder, const std::string &stable,
                        const std::string &name) {
  std::string link = folder + "/" + stable, temporary = link + ".new";
  std::error_code error;
  if (fs::exists(fs::symlink_status(link, error)) &&
      !fs::is_symlink(link, error)) {
    return; // somebody's own file
  }
  fs::remove(temporary, error);
  fs::create_symlink(name, temporary, error);
  if (!error) {
    fs::rename(temporary, link, error);
  }
}

static void removeLink(const std::string &folder, const std::string &stable) {
  std::error_code error;
  if (fs::is_symlink(folder + "/" + stable, error)) {
    fs::remove(folder + "/" + stable, error);
  }
}

/// Files that no checkpoint names, and of saves that were killed.
static void removeOthers(const std::string &folder,
                         const std::set<std::string> &named) {
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename();
    bool isOther = isTensorFileName(name) && !named.contains(name);
    if (isOther || isTemporaryName(name)) {
      others.push_back(at->path());
    }
  }
  for (const fs::path &other : others) {
    fs::remove(other, error);
  }
}

/// What a folder has when `now` is its last checkpoint.
static StateFile succeeded(std::optional<StateFile> before, SavedSet now,
                           const SaveOptions &options) {
  StateFile file{std::move(now), std::nullopt, {}};
  uint64_t step = file.last.state.step;
  if (before) {
    file.best = std::move(before->best);
    file.older = std::move(before->older);
    file.older.insert(file.older.begin(), std::move(before->last));
    // A run that has gone back to an earlier step writes its own.
    std::erase_if(file.older,
                  [&](const SavedSet &set) { return set.state.step >= step; });
    file.older.resize(std::min(file.older.size(), size_t(options.keep)));
  }
  if (options.isBest) {
    file.best = file.last;
  }
  return file;
}

std::string gpt2::writeCheckpoint(const std::string &folder,
                                  const Checkpoint &checkpoint,
                                  const SaveOptions &options) {
  // Before anything is written: files of an unknown state stay.
  std::optional<StateFile> before =
      options.isNewRun ? std::nullopt : findState(folder);
  SavedSet now;
  now.state = checkpoint.state;
  auto write = [&](const std::string &begin,
                   std::span<const NamedTensor> tensors,
                   const Metadata &metadata) {
    std::string name = freeName(folder, begin, now.state.step);
    WrittenFile written =
        writeSafetensors(folder + "/" + name, tensors, metadata);
    return NamedFile{name, written.bytes, written.digest.hex()};
  };
  std::string step = std::to_string(now.state.step);
  now.optimizer = write("optimizer", checkpoint.optimizer, {{"step", step}});
  now.weights = write(
      "ckpt", transposed(checkpoint.weights),
      {{"format", "pt"}, {"step", step}, {"config", now.state.model.dump()}});
  StateFile file = succeeded(std::move(before), std::move(now), options);
  writeAtomically(folder + "/state.json", stateText(file));
  std::set<std::string> named;
  auto take = [&](const SavedSet &set) {
    named.insert({set.weights.name, set.optimizer.name});
  };
  take(file.last);
  linkWeights(folder, "ckpt.safetensors", file.last.weights.name);
  if (file.best) {
    take(*file.best);
    linkWeights(folder, "best.safetensors", file.best->weights.name);
  } else {
    removeLink(folder, "best.safetensors");
  }
  std::ranges::for_each(file.older, take);
  removeOthers(folder, named);
  return folder + "/" + file.last.weights.name;
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

struct CheckpointWriter::State {
  std::string folder;
  Written written;
  int lock = -1;
  /// What the thread writes; its memory is used again by the next save.
  Checkpoint copy;
  SaveOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  bool isFull = false, ends = false;
  std::optional<Failure> failure;
  std::thread thread;

  void run() {
    std::unique_lock held(mutex);
    while (true) {
      changed.wait(held, [&] { return isFull || ends; });
      if (!isFull) {
        return;
      }
      held.unlock();
      std::optional<Failure> outcome;
      try {
        std::string weights = writeCheckpoint(folder, copy, options);
        if (written) {
          written(weights, copy.state, options);
        }
      } catch (const Error &error) {
        outcome = error.failure();
        outcome->message += hasCheckpoint(folder)
                                ? "; the checkpoint before this one is kept"
                                : "";
      } catch (const std::exception &error) {
        outcome = Failure{ErrorCode::OutOfMemory,
                          "cannot write the checkpoint in '" + folder +
                              "': " + error.what(),
                          {}};
      }
      held.lock();
      failure = outcome;
      isFull = false;
      changed.notify_all();
    }
  }
};

CheckpointWriter::CheckpointWriter(std::string folder, Written written)
    : state(std::make_unique<State>()) {
  makeFolder(folder);
  state->folder = std::move(folder);
  state->written = std::move(written);
  state->lock = ::open(state->folder.c_str(), O_RDONLY | O_CLOEXEC);
  // File systems without locks are used as they are.
  if (state->lock >= 0 && ::flock(state->lock, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    ::close(state->lock);
    raise({ErrorCode::IoError,
           "'" + state->folder +
               "': another process writes its checkpoints here; choose another "
               "--out_dir, or wait until it ends",
           {}});
  }
  state->thread = std::thread([this] { state->run(); });
}

CheckpointWriter::~CheckpointWriter() {
  {
    std::lock_guard held(state->mutex);
    state->ends = true;
  }
  state->changed.notify_all();
  state->thread.join();
  if (state->failure) {
    std::fprintf(stderr, "error: %s\n", state->failure->message.c_str());
  }
  if (state->lock >= 0) {
    ::close(state->lock);
  }
}

/// Memory of `old`, where it fits, with the values of `tensors`.
static void copyToHost(std::vector<NamedTensor> &old,
                       const std::vector<NamedTensor> &tensors) {
  old.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &from = tensors[i].tensor;
    Tensor &to = old[i].tensor;
    old[i].name = tensors[i].name;
    if (!from.defined()) {
      raise({ErrorCode::InvalidArgument,
             "checkpoint: tensor '" + old[i].name + "' is undefined",
             {}});
    }
    if (!to.defined() || to.shape() != from.shape() ||
        to.dtype() != from.dtype()) {
      to = empty(from.shape(), from.dtype(), Device::cpu());
    }
    to.copyFrom(from);
  }
}

void CheckpointWriter::save(const Checkpoint &checkpoint,
                            const SaveOptions &options) {
  wait();
  copyToHost(state->copy.weights, checkpoint.weights);
  copyToHost(state->copy.optimizer, checkpoint.optimizer);
  state->copy.state = checkpoint.state;
  state->options = options;
  {
    std::lock_guard held(state->mutex);
    state->isFull = true;
  }
  state->changed.notify_all();
}

void CheckpointWriter::wait() {
  std::unique_lock held(state->mutex);
  state->changed.wait(held, [&] { return !state->isFull; });
  if (state->failure) {
    Failure failure = std::move(*state->failure);
    state->failure.reset();
    raise(std::move(failure));
  }
}

bool CheckpointWriter::isBusy() const {
  std::lock_guard held(state->mutex);
  return state->isFull;
}

void gpt2::saveCheckpoint(const std::string &folder,
                          const Checkpoint &checkpoint,
                          const SaveOptions &options) {
  CheckpointWriter writer(folder);
  writer.save(checkpoint, options);
  writer.wait();
}
