//===- TraceReader.h - A trace, read back -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_TESTING_TRACEREADER_H
#define NEREID_PROF_TESTING_TRACEREADER_H

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nereid::prof {

/// The slices of a trace and what they depend on, for tests.
struct ReadTrace {
  explicit ReadTrace(const std::string &text)
      : json(nlohmann::json::parse(text)) {
    for (const auto &event : json.at("traceEvents")) {
      events.push_back(event);
    }
  }

  std::vector<nlohmann::json> phase(const std::string &phase) const {
    std::vector<nlohmann::json> found;
    for (const auto &event : events) {
      if (event.at("ph") == phase) {
        found.push_back(event);
      }
    }
    return found;
  }
  std::vector<nlohmann::json> slices(const std::string &category) const {
    std::vector<nlohmann::json> found = phase("X");
    std::erase_if(found,
                  [&](const auto &slice) { return slice["cat"] != category; });
    return found;
  }
  std::vector<std::string> names(const std::string &category) const {
    std::vector<std::string> found;
    for (const auto &slice : slices(category)) {
      found.push_back(slice.at("name"));
    }
    return found;
  }
  /// The name of the track that the event is on.
  std::string trackOf(const nlohmann::json &event) const {
    return nameOf("thread_name", event);
  }
  std::string processOf(const nlohmann::json &event) const {
    return nameOf("process_name", event);
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> found;
    for (const auto &[name, text] : json.at("otherData").items()) {
      if (name.starts_with("note")) {
        found.push_back(text);
      }
    }
    return found;
  }

  nlohmann::json json;
  std::vector<nlohmann::json> events;

private:
  std::string nameOf(const std::string &kind,
                     const nlohmann::json &event) const {
    for (const auto &name : phase("M")) {
      if (name["name"] == kind && name["pid"] == event["pid"] &&
          (kind == "process_name" || name["tid"] == event["tid"])) {
        return name["args"]["name"];
      }
    }
    return "";
  }
};

/// Does `inner` lie within `outer`, on one track?
inline bool isWithin(const nlohmann::json &inner, const nlohmann::json &outer) {
  double begin = inner["ts"], end = begin + double(inner["dur"]);
  double from = outer["ts"], to = from + double(outer["dur"]);
  return inner["pid"] == outer["pid"] && inner["tid"] == outer["tid"] &&
         begin >= from - 1e-3 && end <= to + 1e-3;
}

} // namespace nereid::prof

#endif // NEREID_PROF_TESTING_TRACEREADER_H
