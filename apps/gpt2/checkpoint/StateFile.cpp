//===- StateFile.cpp - state.json -----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/CheckpointFiles.h"
#include "nereid/Runtime/Error.h"

#include <cmath>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

static constexpr const char *formatName = "nereid-gpt2 checkpoint";
static constexpr int formatVersion = 1;

static json fileJson(const NamedFile &file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"blake2b", file.digest}};
}

std::string gpt2::stateText(const StateFile &file) {
  const TrainingState &state = file.state;
  nlohmann::ordered_json text;
  text["format"] = formatName;
  text["version"] = formatVersion;
  text["step"] = state.step;
  text["data_step"] = state.dataStep;
  text["seed"] = state.seed;
  // JSON has no infinity: null stands for "none so far".
  text["best_loss"] =
      std::isfinite(state.bestLoss) ? json(state.bestLoss) : json(nullptr);
  text["generator"] = state.generator;
  text["schedule"] = state.schedule;
  text["options"] = state.options;
  text["model"] = state.model;
  text["files"] = {{"weights", fileJson(file.weights)},
                   {"optimizer", fileJson(file.optimizer)}};
  return text.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {
class Reader {
public:
  Reader(const json &object, const std::string &path)
      : object(object), path(path) {}

  [[noreturn]] void refuse(const std::string &why) const {
    raise({ErrorCode::InvalidArgument, "'" + path + "': " + why, {}});
  }
  const json &value(const char *key) const {
    auto found = object.find(key);
    if (found == object.end()) {
      refuse(std::string("expected the key '") + key +
             "', got none; the checkpoint is damaged");
    }
    return *found;
  }
  uint64_t number(const char *key) const {
    const json &number = value(key);
    if (!number.is_number_unsigned()) {
      refuse(std::string("expected '") + key + "' to be a number from 0 on, " +
             "got " + number.dump());
    }
    return number.get<uint64_t>();
  }
  std::string text(const char *key) const {
    const json &text = value(key);
    if (!text.is_string()) {
      refuse(std::string("expected '") + key + "' to be a text, got " +
             text.dump());
    }
    return text.get<std::string>();
  }
  const json &part(const char *key) const {
    const json &part = value(key);
    if (!part.is_object()) {
      refuse(std::string("expected '") + key + "' to be an object, got " +
             std::string(part.type_name()));
    }
    return part;
  }
  NamedFile file(const char *key) const {
    Reader files(part("files"), path);
    Reader one(files.part(key), path);
    NamedFile file{one.text("name"), one.number("bytes"), one.text("blake2b")};
    if (!isTensorFileName(file.name)) {
      refuse("expected the name of a tensor file of this folder, got '" +
             file.name + "'");
    }
    return file;
  }

private:
  const json &object;
  const std::string &path;
};
} // namespace

StateFile gpt2::parseState(const std::string &text, const std::string &path) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  auto refuse = [&](const std::string &why) {
    raise({ErrorCode::InvalidArgument, "'" + path + "': " + why, {}});
  };
  if (object.is_discarded()) {
    refuse("expected JSON, got text that is none; the checkpoint is damaged");
  }
  if (!object.is_object() || object.value("format", json()) != formatName) {
    refuse("expected a state.json of nereid-gpt2, got that of another program; "
           "choose another folder");
  }
  Reader reader(object, path);
  if (uint64_t version = reader.number("version"); version != formatVersion) {
    refuse("expected version " + std::to_string(formatVersion) +
           " of checkpoints, got " + std::to_string(version) +
           "; read it with the nereid-gpt2 that wrote it");
  }
  StateFile file;
  TrainingState &state = file.state;
  state.step = reader.number("step");
  state.dataStep = reader.number("data_step");
  state.seed = reader.number("seed");
  const json &best = reader.value("best_loss");
  if (best.is_number()) {
    state.bestLoss = best.get<double>();
  } else if (!best.is_null()) {
    refuse("expected 'best_loss' to be a number or null, got " + best.dump());
  }
  state.generator = reader.part("generator");
  state.schedule = reader.part("schedule");
  state.options = reader.part("options");
  state.model = reader.part("model");
  file.weights = reader.file("weights");
  file.optimizer = reader.file("optimizer");
  return file;
}

bool gpt2::isTensorFileName(const std::string &name) {
  // "ckpt-STEP.safetensors", "ckpt-STEP-COUNT.safetensors"
  constexpr std::string_view end = ".safetensors";
  std::string_view rest = name;
  if (!rest.ends_with(end)) {
    return false;
  }
  rest.remove_suffix(end.size());
  for (std::string_view begin : {"ckpt-", "optimizer-"}) {
    if (rest.starts_with(begin)) {
      rest.remove_prefix(begin.size());
      return !rest.empty() && rest.front() != '-' && rest.back() != '-' &&
             rest.find_first_not_of("0123456789-") == std::string_view::npos;
    }
  }
  return false;
}
