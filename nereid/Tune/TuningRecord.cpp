//===- TuningRecord.cpp - What tuning found out, as JSON ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/TuningRecord.h"

#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Support/Files.h"
#include "nereid/Support/Hash.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nereid::tune {

using Json = nlohmann::ordered_json;

static constexpr int formatVersion = 1;

static constexpr std::pair<TrialState, const char *> stateNames[] = {
    {TrialState::Measured, "measured"},
    {TrialState::NoGrid, "no grid"},
    {TrialState::NotCompiled, "not compiled"},
    {TrialState::TooLarge, "too large"},
    {TrialState::Faulted, "faulted"},
    {TrialState::Hung, "hung"},
    {TrialState::Suspect, "suspect"},
};

const char *name(TrialState state) {
  for (auto [known, text] : stateNames) {
    if (known == state) {
      return text;
    }
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Json toJson(const StaticValue &value);

namespace {
/// Dtypes are objects, so that texts stay texts.
struct ValueWriter {
  Json operator()(StaticValue::None) const { return nullptr; }
  Json operator()(DType dtype) const {
    return {{"dtype", std::string(shortName(dtype))}};
  }
  Json operator()(const StaticValue::Tuple &items) const {
    Json list = Json::array();
    for (const StaticValue &item : items) {
      list.push_back(toJson(item));
    }
    return list;
  }
  Json operator()(const StaticValue::Dict &) const { return "dict"; }
  Json operator()(const StaticValue::Function &function) const {
    return {{"function", function.name}};
  }
  Json operator()(const auto &plain) const { return plain; }
};
} // namespace

static Json toJson(const StaticValue &value) {
  return std::visit(ValueWriter{}, value.value);
}

static DType dtypeOf(const std::string &name) {
  if (auto dtype = parseDType(name)) {
    return *dtype;
  }
  throw nlohmann::json::other_error::create(501, "no dtype is called " + name,
                                            nullptr);
}

static StaticValue valueOf(const Json &json) {
  if (json.is_boolean()) {
    return json.get<bool>();
  }
  if (json.is_number_unsigned()) {
    return json.get<uint64_t>();
  }
  if (json.is_number_integer()) {
    return json.get<int64_t>();
  }
  if (json.is_number()) {
    return json.get<double>();
  }
  if (json.is_string()) {
    return json.get<std::string>();
  }
  if (json.is_array()) {
    StaticValue::Tuple items;
    for (const Json &item : json) {
      items.push_back(valueOf(item));
    }
    return items;
  }
  if (json.is_object() && json.contains("function")) {
    return StaticValue::Function{json.at("function"), ""};
  }
  return json.is_null() ? StaticValue() : dtypeOf(json.at("dtype"));
}

static std::pair<const char *, uint32_t CompileOptions::*> const options[] = {
    {"num_warps", &CompileOptions::numWarps},
    {"num_stages", &CompileOptions::numStages},
    {"num_ctas", &CompileOptions::numCtas},
    {"maxnreg", &CompileOptions::maxRegisters},
    {"minnreg", &CompileOptions::minRegisters},
    {"waves_per_eu", &CompileOptions::wavesPerUnit},
    {"matrix_instr_nonkdim", &CompileOptions::matrixSize}};

Json toJson(const ConfigDescription &config) {
  Json json = Json::object();
  for (const auto &[name, value] : config.values) {
    json[name] = toJson(value);
  }
  const CompileOptions usual;
  for (auto [name, option] : options) {
    bool isUsual = config.options.*option == usual.*option;
    if (!isUsual || option == &CompileOptions::numWarps ||
        option == &CompileOptions::numStages) {
      json[name] = config.options.*option;
    }
  }
  return json;
}

ConfigDescription configOf(const Json &json) {
  ConfigDescription config;
  for (const auto &[name, value] : json.items()) {
    bool isOption = false;
    for (auto [known, option] : options) {
      if (name == known) {
        config.options.*option = value.get<uint32_t>();
        isOption = true;
      }
    }
    if (!isOption) {
      config.values[name] = valueOf(value);
    }
  }
  return config;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

Json toJson(const TrialRecord &trial) {
  Json json = {{"config", toJson(trial.config)}, {"state", name(trial.state)}};
  if (trial.samples) {
    json["ms"] = trial.ms;
    json["spread"] = trial.spread;
    json["samples"] = trial.samples;
  }
  if (!trial.message.empty()) {
    json["message"] = trial.message;
  }
  return json;
}

TrialRecord trialOf(const Json &json) {
  TrialRecord trial;
  trial.config = configOf(json.at("config"));
  for (auto [state, text] : stateNames) {
    if (json.at("state") == text) {
      trial.state = state;
    }
  }
  trial.ms = json.value("ms", 0.0);
  trial.spread = json.value("spread", 0.0);
  trial.samples = json.value("samples", size_t{0});
  trial.message = json.value("message", "");
  return trial;
}

static Json keyJson(const TuningRecord &record) {
  Json values = Json::object(), dtypes = Json::object();
  for (const auto &[name, value] : record.values) {
    values[name] = toJson(value);
  }
  for (const auto &[name, dtype] : record.dtypes) {
    dtypes[name] = std::string(shortName(dtype));
  }
  return {{"kernel", record.kernel}, {"source_hash", record.sourceHash},
          {"device", record.device}, {"driver", record.driver},
          {"key", values},           {"dtypes", dtypes}};
}

std::string TuningRecord::id() const {
  return hashText(keyJson(*this).dump()).hex().substr(0, 24);
}

Json toJson(const TuningRecord &record) {
  Json json = keyJson(record);
  json["file"] = record.file;
  json["candidates"] = record.candidates;
  json["config"] = toJson(record.config);
  json["ms"] = record.ms;
  json["seconds"] = record.seconds;
  for (auto [name, number] :
       {std::pair("rivals", record.rivals), std::pair("twins", record.twins),
        std::pair("untried", record.untried)}) {
    if (number) {
      json[name] = number;
    }
  }
  if (record.isStopped) {
    json["stopped"] = true;
  }
  for (auto [name, text] : {std::pair("remark", &record.remark),
                            std::pair("doubt", &record.doubt)}) {
    if (!text->empty()) {
      json[name] = *text;
    }
  }
  json["trials"] = Json::array();
  for (const TrialRecord &trial : record.trials) {
    json["trials"].push_back(toJson(trial));
  }
  return json;
}

TuningRecord tuningOf(const Json &json) {
  TuningRecord record;
  record.kernel = json.at("kernel");
  record.sourceHash = json.at("source_hash");
  record.device = json.at("device");
  record.driver = json.at("driver");
  record.file = json.value("file", "");
  for (const auto &[name, value] : json.at("key").items()) {
    record.values[name] = valueOf(value);
  }
  for (const auto &[name, dtype] : json.at("dtypes").items()) {
    record.dtypes[name] = dtypeOf(dtype);
  }
  record.candidates = json.at("candidates");
  record.config = configOf(json.at("config"));
  record.ms = json.value("ms", 0.0);
  record.seconds = json.value("seconds", 0.0);
  record.rivals = json.value("rivals", size_t{0});
  record.twins = json.value("twins", size_t{0});
  record.untried = json.value("untried", size_t{0});
  record.isStopped = json.value("stopped", false);
  record.remark = json.value("remark", "");
  record.doubt = json.value("doubt", "");
  if (json.contains("trials")) {
    for (const Json &trial : json.at("trials")) {
      record.trials.push_back(trialOf(trial));
    }
  }
  return record;
}

TuningRecord recordOf(const TuningKey &key) {
  TuningRecord record;
  record.kernel = key.kernel;
  record.file = key.file;
  record.sourceHash = key.sourceHash;
  record.values = key.values;
  record.dtypes = key.dtypes;
  record.device = tuningDevice(key.device);
  if (!key.device.isHost()) {
    if (auto state = gpu::DeviceState::get(key.device); state.ok()) {
      record.driver = (*state)->driver.versionText();
    }
  }
  return record;
}

std::string hashOf(std::span<const ConfigDescription> configs) {
  Json list = Json::array();
  for (const ConfigDescription &config : configs) {
    list.push_back(toJson(config));
  }
  return hashText(list.dump()).hex().substr(0, 16);
}

std::string fileText(std::span<const TuningRecord> records) {
  Json list = Json::array();
  for (const TuningRecord &record : records) {
    list.push_back(toJson(record));
  }
  return Json{{"nereid_tuned", formatVersion}, {"tuned", list}}.dump(1) + "\n";
}

/// In words of the file, without those of the library that read it.
static std::string plain(const nlohmann::json::exception &error) {
  constexpr int noJson = 101, noField = 403;
  std::string text = error.what();
  text = text.substr(text.find("] ") + 2);
  if (error.id == noField) {
    size_t begin = text.find('\''), end = text.rfind('\'');
    return "the field " + text.substr(begin, end - begin + 1) + " is missing";
  }
  if (error.id == noJson) {
    size_t at = text.find("at "), end = text.find(':');
    return "it is no JSON, " + text.substr(at, end - at);
  }
  return text;
}

bool isDoubtful(const TuningRecord &record) {
  return !record.doubt.empty() ||
         std::any_of(record.trials.begin(), record.trials.end(),
                     [](const TrialRecord &trial) {
                       return trial.message.find(undecided) !=
                              std::string::npos;
                     });
}

Expected<std::vector<TuningRecord>> readRecords(const std::string &path) {
  Expected<std::string> text = readFile(path);
  return text.ok() ? parseRecords(path, *text) : text.failure();
}

Expected<std::vector<TuningRecord>> parseRecords(const std::string &path,
                                                 const std::string &text) {
  auto broken = [&](const std::string &what) {
    return Failure{ErrorCode::InvalidArgument,
                   path + ": " + what +
                       "; expected a file that nereid tune --export wrote",
                   {}};
  };
  try {
    Json json = Json::parse(text);
    if (!json.is_object() || json.value("nereid_tuned", 0) != formatVersion) {
      return broken("'nereid_tuned' is not " + std::to_string(formatVersion));
    }
    std::vector<TuningRecord> records;
    for (const Json &record : json.at("tuned")) {
      try {
        records.push_back(tuningOf(record));
        if (isDoubtful(records.back())) {
          return broken("record " + std::to_string(records.size() - 1) +
                        ": configurations of '" + records.back().kernel +
                        "' disagreed, and nothing said which was right");
        }
      } catch (const nlohmann::json::exception &error) {
        return broken("record " + std::to_string(records.size()) + ": " +
                      plain(error));
      }
    }
    return records;
  } catch (const nlohmann::json::exception &error) {
    return broken(plain(error));
  }
}

} // namespace nereid::tune
