//===- StateFile.cpp - state.json -----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/CheckpointFiles.h"
#include "apps/gpt2/data/JsonFile.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Hash.h"

#include <cmath>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

static constexpr const char *formatName = "nereid-gpt2 checkpoint";
static constexpr int formatVersion = 2;
/// Without a best checkpoint, older ones and a checksum.
static constexpr int firstVersion = 1;

static json fileJson(const NamedFile &file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"blake2b", file.digest}};
}

/// JSON has no infinity, and no "none".
static json numberJson(std::optional<double> number) {
  return number && std::isfinite(*number) ? json(*number) : json(nullptr);
}

static nlohmann::ordered_json setJson(const SavedSet &set) {
  const TrainingState &state = set.state;
  nlohmann::ordered_json text;
  text["step"] = state.step;
  text["data_step"] = state.dataStep;
  text["seed"] = state.seed;
  text["loss"] = numberJson(state.loss);
  text["best_loss"] = numberJson(state.bestLoss);
  text["best_step"] = state.bestStep;
  text["generator"] = state.generator;
  text["schedule"] = state.schedule;
  text["options"] = state.options;
  text["model"] = state.model;
  text["data"] = state.data;
  text["files"] = {{"weights", fileJson(set.weights)},
                   {"optimizer", fileJson(set.optimizer)}};
  return text;
}

static std::string dumped(const nlohmann::ordered_json &text, int indent) {
  return text.dump(indent, ' ', false, json::error_handler_t::replace);
}

/// Of all but itself, whatever the order of keys and the spaces.
static std::string checksumOf(json object) {
  object.erase("checksum");
  return hashText(object.dump()).hex();
}

std::string gpt2::stateText(const StateFile &file) {
  nlohmann::ordered_json text = {{"format", formatName},
                                 {"version", formatVersion}};
  text.update(setJson(file.last));
  if (file.best) {
    text["best"] = setJson(*file.best);
  }
  text["older"] = json::array();
  for (const SavedSet &set : file.older) {
    text["older"].push_back(setJson(set));
  }
  text["checksum"] = checksumOf(json::parse(dumped(text, -1)));
  return dumped(text, 2) + "\n";
}

namespace {
class Reader {
public:
  Reader(const json &object, const std::string &path)
      : object(object), path(path) {}

  [[noreturn]] void refuse(const std::string &why) const {
    raise({ErrorCode::IoError, "'" + path + "': " + why, {}});
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
             "got " + shortText(number));
    }
    return number.get<uint64_t>();
  }
  /// A number of steps: what --max_iters takes.
  uint64_t steps(const char *key) const {
    constexpr uint64_t most = 1'000'000'000'000'000;
    uint64_t count = number(key);
    if (count > most) {
      refuse(std::string("expected '") + key + "' to be at most " +
             std::to_string(most) + ", got " + std::to_string(count) +
             "; the checkpoint is damaged");
    }
    return count;
  }
  /// Nothing for null.
  std::optional<double> loss(const char *key) const {
    const json &loss = value(key);
    if (!loss.is_number() && !loss.is_null()) {
      refuse(std::string("expected '") + key +
             "' to be a number or null, got " + shortText(loss));
    }
    return loss.is_number() ? std::optional(loss.get<double>()) : std::nullopt;
  }
  std::string text(const char *key) const {
    const json &text = value(key);
    if (!text.is_string()) {
      refuse(std::string("expected '") + key + "' to be a text, got " +
             shortText(text));
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

static SavedSet setFrom(const Reader &reader, bool isFirstVersion) {
  SavedSet set;
  TrainingState &state = set.state;
  state.step = reader.steps("step");
  state.dataStep = reader.number("data_step");
  state.seed = reader.number("seed");
  constexpr double none = std::numeric_limits<double>::infinity();
  state.bestLoss = reader.loss("best_loss").value_or(none);
  state.generator = reader.part("generator");
  state.schedule = reader.part("schedule");
  state.options = reader.part("options");
  state.model = reader.part("model");
  if (!isFirstVersion) {
    state.loss = reader.loss("loss");
    state.bestStep = reader.steps("best_step");
    state.data = reader.part("data");
  }
  set.weights = reader.file("weights");
  set.optimizer = reader.file("optimizer");
  return set;
}

StateFile gpt2::parseState(const std::string &text, const std::string &path) {
  ParsedJson parsed = parseJson(text);
  const json &object = parsed.value;
  Reader reader(object, path);
  if (!parsed.ok()) {
    reader.refuse(parsed.problem + "; the checkpoint is damaged");
  }
  if (!object.is_object() || object.value("format", json()) != formatName) {
    reader.refuse("expected a state.json of nereid-gpt2, got that of another "
                  "program; choose another folder");
  }
  uint64_t version = reader.number("version");
  if (version < firstVersion || version > formatVersion) {
    raise({ErrorCode::Unsupported,
           "'" + path + "': expected version " + std::to_string(formatVersion) +
               " of checkpoints, got " + std::to_string(version) +
               "; read it with the nereid-gpt2 that wrote it",
           {}});
  }
  StateFile file;
  file.last = setFrom(reader, version == firstVersion);
  if (version == firstVersion) {
    return file;
  }
  if (object.contains("best")) {
    file.best = setFrom(Reader(reader.part("best"), path), false);
  }
  const json &older = reader.value("older");
  if (!older.is_array()) {
    reader.refuse("expected 'older' to be an array, got " +
                  std::string(older.type_name()));
  }
  for (const json &one : older) {
    file.older.push_back(setFrom(Reader(one, path), false));
  }
  if (reader.text("checksum") != checksumOf(object)) {
    reader.refuse("the checkpoint is damaged: expected the checksum that this "
                  "file has of itself, got another");
  }
  return file;
}

/// As the writer writes one.
static bool isPlainNumber(std::string_view text) {
  return !text.empty() && (text == "0" || text.front() != '0') &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
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
      size_t dash = rest.find('-');
      return isPlainNumber(rest.substr(0, dash)) &&
             (dash == std::string_view::npos ||
              isPlainNumber(rest.substr(dash + 1)));
    }
  }
  return false;
}
