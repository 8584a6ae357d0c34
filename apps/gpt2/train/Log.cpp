//===- Log.cpp --------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Log.h"

#include "apps/gpt2/train/Report.h"
#include "nereid/Bench/Report.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Support/Files.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace nereid;
using namespace nereid::gpt2;
using Json = nlohmann::ordered_json;

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

static double now() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Of log.csv.
static constexpr const char *columns[] = {"iter",
                                          "loss",
                                          "lr",
                                          "grad_norm",
                                          "tokens_per_second",
                                          "mfu",
                                          "memory_bytes",
                                          "ms",
                                          "train_loss",
                                          "val_loss",
                                          "loss_scale",
                                          "skipped",
                                          "choice_acc",
                                          "choice_acc_norm",
                                          "choice_acc_token",
                                          "flops"};

static std::string csvLine(const Json &json) {
  std::string line;
  for (const char *column : columns) {
    line += line.empty() ? "" : ",";
    auto found = json.find(column);
    line += found == json.end() || found->is_null() ? "" : found->dump();
  }
  return line + "\n";
}

Log::File Log::open(const std::string &name, bool appends) {
  File opened(std::fopen(name.c_str(), appends ? "a" : "w"));
  if (!opened) {
    raise({ErrorCode::IoError,
           "cannot write to " + name + ": " + std::strerror(errno),
           {}});
  }
  return opened;
}

Log::Log(const std::string &path, bool appends, LogFormats formats)
    : path(path) {
  if (path.empty()) {
    return;
  }
  file = open(path, appends);
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (formats.csv) {
    csvPath = folder / "log.csv";
    csv = open(csvPath, false);
    std::string text;
    for (const char *column : columns) {
      text += (text.empty() ? "" : ",") + std::string(column);
    }
    text += "\n";
    // What the run has done before, too, whatever it has written then.
    forLines(path, [&](const Json &json, std::string_view) {
      text += csvLine(json);
    });
    put(csv, csvPath, text);
  }
  if (formats.events) {
    double seconds = now();
    events.emplace(folder / eventFileName(seconds), seconds);
  }
}

void Log::put(File &file, const std::string &path, const std::string &line) {
  if (!file) {
    return;
  }
  if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() ||
      std::fflush(file.get()) != 0) {
    raise({ErrorCode::IoError,
           "cannot write to " + path + ": " + std::strerror(errno),
           {}});
  }
}

void Log::put(const Json &line) {
  put(file, path, line.dump() + "\n");
  if (csv) {
    put(csv, csvPath, csvLine(line));
  }
  if (events) {
    std::vector<std::pair<std::string, double>> scalars;
    for (const auto &[key, value] : line.items()) {
      if (key != "iter" && value.is_number()) {
        scalars.emplace_back(key, value.get<double>());
      }
    }
    events->write(now(), line["iter"], scalars);
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
  if (line.flops) {
    json["flops"] = *line.flops;
    char text[48];
    std::snprintf(text, sizeof(text), ", %.1f GFLOP/s", *line.flops / 1e9);
    mfu += text;
  }
  json["memory_bytes"] = line.memoryBytes;
  json["ms"] = line.milliseconds;
  std::string norm;
  if (line.lossScale) {
    json["loss_scale"] = *line.lossScale;
    char text[48];
    std::snprintf(text, sizeof(text), ", loss scale %g", *line.lossScale);
    norm += text;
  }
  if (line.skipped) {
    json["skipped"] = *line.skipped;
  }
  if (line.newlySkipped) {
    norm += ", " + std::to_string(line.newlySkipped) +
            (line.newlySkipped == 1 ? " step" : " steps") + " skipped";
  }
  put(json);
  std::string left =
      line.secondsLeft ? ", " + durationText(*line.secondsLeft) + " left" : "";
  std::printf("iter %lld: loss %.4f, lr %.2e, norm %.3f%s, %.2f ms, %.0f "
              "tokens/s%s, %.0f MB%s\n",
              static_cast<long long>(line.iter), shown(line.loss),
              line.learningRate, shown(line.gradientNorm), norm.c_str(),
              line.milliseconds, line.tokensPerSecond, mfu.c_str(),
              double(line.memoryBytes) / 1e6, left.c_str());
  std::fflush(stdout);
}

void Log::write(const EvaluationLine &line) {
  Json json = {{"iter", line.iter},
               {"train_loss", line.trainLoss},
               {"val_loss", line.validationLoss}};
  std::string choices;
  if (line.choices) {
    const ChoiceScore &score = *line.choices;
    json["choice_acc"] = score.share(score.bySum);
    json["choice_acc_norm"] = score.share(score.byCharacter);
    json["choice_acc_token"] = score.share(score.byToken);
    choices = "multiple choice: " + textOf(score) + "\n";
  }
  put(json);
  std::printf("step %lld: train loss %.4f, val loss %.4f\n%s",
              static_cast<long long>(line.iter), shown(line.trainLoss),
              shown(line.validationLoss), choices.c_str());
  std::fflush(stdout);
}

void gpt2::cutLog(const std::string &path, int64_t step,
                  const std::string &to) {
  if (!std::filesystem::exists(path)) {
    return;
  }
  std::string kept;
  forLines(path, [&](const Json &json, std::string_view line) {
    if (json["iter"] < step) {
      kept += std::string(line) + "\n";
    }
  });
  throwIfFailed(writeFileAtomically(to, kept));
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
      validation{"validation", {}}, rate{"learning rate", {}}, norm{"norm", {}},
      sum{"by sum", {}}, character{"by character", {}}, token{"by token", {}};
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
    add(sum, "choice_acc");
    add(character, "choice_acc_norm");
    add(token, "choice_acc_token");
  });
  std::vector<bench::Plot> plots = {
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
  if (!sum.points.empty()) {
    plots.push_back({"multiple choice",
                     "step",
                     "accuracy",
                     false,
                     false,
                     {},
                     {sum, character, token},
                     /*isNearData=*/true});
  }
  throwIfFailed(writeFileAtomically(svgPath, bench::svgOf(title, plots)));
}
