//===- Log.cpp --------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Log.h"

#include "nereid/Bench/Report.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Support/Files.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace nereid;
using namespace nereid::gpt2;
using Json = nlohmann::ordered_json;

Log::Log(const std::string &path, bool appends) : path(path) {
  if (path.empty()) {
    return;
  }
  file.reset(std::fopen(path.c_str(), appends ? "a" : "w"));
  if (!file) {
    raise({ErrorCode::IoError,
           "cannot write to " + path + ": " + std::strerror(errno),
           {}});
  }
}

void Log::put(const std::string &line) {
  if (!file) {
    return;
  }
  std::string whole = line + "\n";
  if (std::fwrite(whole.data(), 1, whole.size(), file.get()) != whole.size() ||
      std::fflush(file.get()) != 0) {
    raise({ErrorCode::IoError,
           "cannot write to " + path + ": " + std::strerror(errno),
           {}});
  }
}

/// Of what is not a number, the sign means nothing.
static double shown(double number) {
  return std::isnan(number) ? std::abs(number) : number;
}

void Log::write(const StepLine &line) {
  Json json = {{"iter", line.iter},
               {"loss", line.loss},
               {"lr", line.learningRate},
               {"grad_norm", line.gradientNorm},
               {"tokens_per_second", line.tokensPerSecond}};
  std::string mfu;
  if (line.mfu) {
    json["mfu"] = *line.mfu;
    char text[32];
    std::snprintf(text, sizeof(text), ", mfu %.2f%%", *line.mfu * 100);
    mfu = text;
  }
  json["memory_bytes"] = line.memoryBytes;
  json["ms"] = line.milliseconds;
  put(json.dump());
  std::printf("iter %lld: loss %.4f, lr %.2e, norm %.3f, %.2f ms, %.0f "
              "tokens/s%s, %.0f MB\n",
              static_cast<long long>(line.iter), shown(line.loss),
              line.learningRate, shown(line.gradientNorm), line.milliseconds,
              line.tokensPerSecond, mfu.c_str(),
              double(line.memoryBytes) / 1e6);
  std::fflush(stdout);
}

void Log::write(const EvaluationLine &line) {
  put(Json({{"iter", line.iter},
            {"train_loss", line.trainLoss},
            {"val_loss", line.validationLoss}})
          .dump());
  std::printf("step %lld: train loss %.4f, val loss %.4f\n",
              static_cast<long long>(line.iter), shown(line.trainLoss),
              shown(line.validationLoss));
  std::fflush(stdout);
}

/// Calls `take` for each whole line; the last one of a run that was killed may
/// be none.
static void
forLines(const std::string &path,
         const std::function<void(const Json &, std::string_view)> &take) {
  std::string text = valueOrThrow(readFile(path, uint64_t{1} << 30));
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    auto line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("iter") &&
        json["iter"].is_number_integer()) {
      take(json, line);
    }
  }
}

void gpt2::cutLog(const std::string &path, int64_t step) {
  if (!std::filesystem::exists(path)) {
    return;
  }
  std::string kept;
  forLines(path, [&](const Json &json, std::string_view line) {
    if (json["iter"] < step) {
      kept += std::string(line) + "\n";
    }
  });
  throwIfFailed(writeFileAtomically(path, kept));
}

int64_t gpt2::memoryBytes(Device device) {
  if (!device.isHost()) {
    MemoryUse use = memoryUse(device);
    return int64_t(use.used + use.cached);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}

void gpt2::writePlot(const std::string &svgPath, const std::string &logPath,
                     const std::string &title) {
  bench::Line loss{"loss of the batch", {}}, train{"training", {}},
      validation{"validation", {}}, rate{"learning rate", {}}, norm{"norm", {}};
  forLines(logPath, [&](const Json &json, std::string_view) {
    auto add = [&](bench::Line &to, const char *name) {
      if (json.contains(name) && json[name].is_number()) {
        double y = json[name];
        to.points.push_back({json["iter"], y, y, y});
      }
    };
    add(loss, "loss");
    add(train, "train_loss");
    add(validation, "val_loss");
    add(rate, "lr");
    add(norm, "grad_norm");
  });
  const bench::Plot plots[] = {
      {"loss",
       "step",
       "nats a token",
       false,
       false,
       {},
       {loss, train, validation},
       /*isNearData=*/true},
      {"learning rate", "step", "learning rate", false, false, {}, {rate}},
      {"gradients", "step", "norm", false, false, {}, {norm}}};
  throwIfFailed(writeFileAtomically(svgPath, bench::svgOf(title, plots)));
}
