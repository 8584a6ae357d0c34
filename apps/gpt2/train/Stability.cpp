//===- Stability.cpp - Steps that a trainer skips -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a state.json:
//   {"loss_scale": 65536.0, "good_steps": 12,
//    "outliers": {"loss": {"values": [128 numbers], "counts": [130, 1]},
//                 "norm": ...}}
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Trainer.h"
#include "nereid/Runtime/Error.h"

#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

bool Trainer::skipsSteps() const { return scales() || losses || norms; }

int64_t Trainer::skipped() const {
  return (losses ? losses->skipped() : 0) + (norms ? norms->skipped() : 0);
}

std::optional<double> Trainer::lossScale() const {
  return scales() ? std::optional(scaler.currentScale()) : std::nullopt;
}

static json windowJson(const kernels::OutlierFilter &filter) {
  std::map<std::string, Tensor> state = filter.stateDict();
  return {{"values", state.at("values").toVector<double>()},
          {"counts", state.at("counts").toVector<int64_t>()}};
}

json Trainer::stabilityState() const {
  json state = json::object();
  if (scales()) {
    std::map<std::string, Tensor> scale = scaler.stateDict();
    state["loss_scale"] = scale.at("scale").item();
    state["good_steps"] = int64_t(scale.at("goodSteps").item());
  }
  if (losses) {
    state["outliers"]["loss"] = windowJson(*losses);
  }
  if (norms) {
    state["outliers"]["norm"] = windowJson(*norms);
  }
  return state;
}

static void loadWindow(std::optional<kernels::OutlierFilter> &filter,
                       const json &outliers, const char *name) {
  if (!filter || !outliers.contains(name)) {
    return;
  }
  const json &window = outliers.at(name);
  filter->loadStateDict(
      {{"values",
        Tensor::fromVector(window.at("values").get<std::vector<double>>())},
       {"counts",
        Tensor::fromVector(window.at("counts").get<std::vector<int64_t>>())}});
}

void Trainer::loadStabilityState(const json &state, const std::string &path) {
  auto refuse = [&](const std::string &why) {
    raise({ErrorCode::IoError,
           "'" + path +
               "': expected a loss scale and the losses and norms of earlier "
               "steps, got others: " +
               why + "; the checkpoint is damaged",
           {}});
  };
  try {
    if (scales() && state.contains("loss_scale")) {
      scaler.loadStateDict(
          {{"scale",
            full({}, state.at("loss_scale").get<double>(), f32, where)},
           {"goodSteps",
            full({}, state.at("good_steps").get<double>(), i32, where)}});
    }
    if (state.contains("outliers")) {
      (void)state.at("outliers").get_ref<const json::object_t &>();
      loadWindow(losses, state.at("outliers"), "loss");
      loadWindow(norms, state.at("outliers"), "norm");
    }
  } catch (const json::exception &error) {
    refuse(error.what());
  } catch (const Error &error) {
    refuse(error.message());
  }
}
