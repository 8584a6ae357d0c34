//===- Options.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/Options.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Support/EditDistance.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

using namespace nereid;
using namespace nereid::gpt2;

namespace {

using Member = std::variant<int64_t Options::*, double Options::*,
                            bool Options::*, std::string Options::*>;

struct Row {
  const char *name;
  Member member;
  const char *group, *help;
  double least = 0, most = INFINITY; ///< of numbers
  bool excludesMost = false;
  std::vector<std::string> choices = {}; ///< of texts; empty: any
};

constexpr const char *samplingGroup = "sampling";

const std::vector<Row> &rows() {
  using O = Options;
  constexpr double many = 1e15;
  constexpr const char *sampling = samplingGroup;
  static const std::vector<Row> table = {
      {"dataset", &O::dataset, "data",
       "folder that `prepare` wrote: a path, or a name in data/"},
      {"batch_size", &O::batchSize, "data", "sequences of a micro-step", 1,
       1e6},
      {"block_size", &O::blockSize, "data", "tokens of a sequence", 1, 1 << 20},
      {"gradient_accumulation_steps", &O::gradientAccumulationSteps, "data",
       "micro-steps of a step, over all processes", 1, 1e6},
      {"n_layer", &O::layers, "model", "layers", 1, 4096},
      {"n_head", &O::heads, "model", "heads of a layer", 1, 4096},
      {"n_embd", &O::width, "model", "width of the residual stream", 1, 65536},
      {"vocab_size", &O::vocabulary, "model",
       "rows of the embedding; 0: the data's, rounded up to 64 above 1000", 0,
       1 << 24},
      {"dropout", &O::dropout, "model", "probability of a zero", 0, 1, true},
      {"bias", &O::bias, "model", "biases in linear layers and layer norms"},
      {"tanh_gelu", &O::tanhGelu, "model",
       "GELU by tanh (GPT-2's); False: by erf (nanoGPT's)"},
      {"init_from", &O::initFrom, "model",
       "scratch, resume, or a file or folder of weights"},
      {"checkpoint", &O::checkpoint, "model",
       "of a folder's: best, last, or a step; without it, resume goes on from "
       "the last, all else takes the best"},
      {"max_iters", &O::maxIters, "schedule", "steps", 0, many},
      {"epochs", &O::epochs, "schedule",
       "instead of max_iters: steps that see so many times the data's tokens; "
       "0: none",
       0, 1e9},
      {"patience", &O::patience, "schedule",
       "evaluations without a lower validation loss, after which a run ends; "
       "0: any number",
       0, many},
      {"learning_rate", &O::learningRate, "schedule",
       "the largest learning rate", 0, 1e6},
      {"decay_lr", &O::decayLr, "schedule", "as lr_schedule says"},
      {"lr_schedule",
       &O::lrSchedule,
       "schedule",
       "after warmup_iters: cosine, linear (both to min_lr), constant, or wsd "
       "(constant, and at the end a line to min_lr)",
       0,
       INFINITY,
       false,
       {"cosine", "linear", "constant", "wsd"}},
      {"decay_iters", &O::decayIters, "schedule",
       "steps of wsd's end; 0: a tenth of lr_decay_iters", 0, many},
      {"warmup_iters", &O::warmupIters, "schedule",
       "steps until learning_rate is reached", 0, many},
      {"lr_decay_iters", &O::lrDecayIters, "schedule",
       "steps until min_lr is reached", 0, many},
      {"min_lr", &O::minLr, "schedule", "where the decay ends", 0, 1e6},
      {"weight_decay", &O::weightDecay, "optimiser",
       "of tensors of two dimensions", 0, 1e6},
      {"beta1", &O::beta1, "optimiser", "of the mean of gradients", 0, 1, true},
      {"beta2", &O::beta2, "optimiser", "of the mean of their squares", 0, 1,
       true},
      {"grad_clip", &O::gradClip, "optimiser",
       "the largest norm of all gradients; 0: any", 0, 1e6},
      {"skip_update_lossz", &O::skipUpdateLossZ, "optimiser",
       "a step changes nothing whose loss is so many standard deviations above "
       "the mean of the last 128; 0: none",
       0, 1e6},
      {"skip_update_gradz", &O::skipUpdateGradZ, "optimiser",
       "the same of the norm of all gradients", 0, 1e6},
      {"device", &O::device, "machine",
       "cpu, cuda, cuda:N; the CPU where there is no GPU"},
      {"dtype",
       &O::dtype,
       "machine",
       "auto (bfloat16 on a GPU), float32, bfloat16 (with float32 master "
       "weights), float16 (the same, with a loss scale)",
       0,
       INFINITY,
       false,
       {"auto", "float32", "bfloat16", "float16"}},
      {"compile", &O::compile, "machine",
       "on a GPU, the step as one CUDA graph"},
      {"recompute", &O::recompute, "machine",
       "backward computes activations again: less memory, more time"},
      {"gpus", &O::gpus, "machine", "GPUs of this machine, a process each", 1,
       1024},
      {"processes", &O::processes, "machine",
       "processes of this machine, on its CPU", 1, 1024},
      {"threads", &O::threads, "machine",
       "of a process on the CPU; 0: NEREID_NUM_THREADS, or all cores", 0, 1024},
      {"seed", &O::seed, "machine",
       "of the first weights, the batches, and dropout", 0, many},
      {"out_dir", &O::outDir, "output",
       "folder of checkpoints and of log.jsonl"},
      {"eval_interval", &O::evalInterval, "output", "steps between evaluations",
       1, many},
      {"eval_iters", &O::evalIters, "output", "batches of an evaluation", 1,
       many},
      {"multiple_choice", &O::multipleChoice, "output",
       "file of questions with endings, as HellaSwag's, that each evaluation "
       "answers"},
      {"log_interval", &O::logInterval, "output",
       "steps between lines of the log", 1, many},
      {"eval_only", &O::evalOnly, "output", "evaluate once, and end"},
      {"always_save_checkpoint", &O::alwaysSaveCheckpoint, "output",
       "after every evaluation; False: where the loss has fallen"},
      {"keep", &O::keep, "output",
       "checkpoints that stay beside the last and the best", 0, 10000},
      {"overwrite", &O::overwrite, "output",
       "a new run may replace the checkpoints of out_dir"},
      {"csv", &O::csv, "output", "log.csv beside log.jsonl"},
      {"tensorboard", &O::tensorboard, "output",
       "a file of events for TensorBoard in out_dir"},
      {"sample_every", &O::sampleEvery, "output",
       "steps between texts of 200 tokens; 0: none", 0, many},
      {"plot", &O::plot, "output", "SVG of the losses and the learning rate"},
      {"trace", &O::trace, "output",
       "JSON of launches, for chrome://tracing and ui.perfetto.dev"},
      {"start", &O::start, sampling, "the prompt, or FILE:path"},
      {"num_samples", &O::numSamples, sampling, "texts, drawn side by side", 1,
       65536},
      {"max_new_tokens", &O::maxNewTokens, sampling, "tokens of a text", 0,
       8e6},
      {"temperature", &O::temperature, sampling,
       "below 1: more of the probable; 0: the most probable token", 0, 1e6},
      {"top_k", &O::topK, sampling, "of the most probable tokens; 0: of all", 0,
       1 << 24},
      {"top_p", &O::topP, sampling,
       "of the most probable tokens that have this probability together", 1e-6,
       1},
  };
  return table;
}

} // namespace

[[noreturn]] static void refuse(const std::string &message) {
  raise({ErrorCode::InvalidArgument, message, {}});
}

static std::string textOf(double number) {
  char text[32];
  bool isWhole = number == std::floor(number) && std::abs(number) <= 1e15;
  auto [end, error] =
      isWhole ? std::to_chars(text, text + sizeof(text), int64_t(number))
              : std::to_chars(text, text + sizeof(text), number);
  return std::string(text, end);
}

static const Row *rowOf(const std::string &name) {
  for (const Row &row : rows()) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

static const Row &knownRow(const std::string &name) {
  if (const Row *row = rowOf(name)) {
    return *row;
  }
  std::vector<std::string> names;
  for (const Row &row : rows()) {
    names.push_back(row.name);
  }
  refuse("expected an option of training, got '" + name + "'" +
         didYouMean(name, names));
}

static std::string rangeText(const Row &row) {
  std::string text = "from " + textOf(row.least);
  if (std::isfinite(row.most)) {
    text += (row.excludesMost ? " to below " : " to ") + textOf(row.most);
  }
  return text;
}

/// Python writes 600_000, and products.
static std::optional<double> numberOf(std::string text) {
  std::erase(text, '_');
  double product = 1;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('*', begin), text.size());
    std::string factor = text.substr(begin, end - begin);
    factor.erase(0, factor.find_first_not_of(" \t+"));
    factor.erase(factor.find_last_not_of(" \t") + 1);
    double value = 0;
    const char *last = factor.data() + factor.size();
    auto [stop, error] = std::from_chars(factor.data(), last, value);
    if (error != std::errc() || stop != last || factor.empty()) {
      return std::nullopt;
    }
    product *= value;
    begin = end + 1;
  }
  return product;
}

void gpt2::setOption(Options &options, const std::string &name,
                     const std::string &value) {
  const Row &row = knownRow(name);
  options.given.insert(name);
  auto fail = [&](const std::string &expected) {
    refuse(name + ": expected " + expected + ", got '" + value + "'");
  };
  if (auto *text = std::get_if<std::string Options::*>(&row.member)) {
    if (!row.choices.empty() &&
        std::find(row.choices.begin(), row.choices.end(), value) ==
            row.choices.end()) {
      std::string list;
      for (const std::string &choice : row.choices) {
        list += (list.empty() ? "" : ", ") + choice;
      }
      refuse(name + ": expected one of " + list + ", got '" + value + "'" +
             didYouMean(value, row.choices));
    }
    options.*(*text) = value;
    return;
  }
  if (auto *flag = std::get_if<bool Options::*>(&row.member)) {
    bool isTrue = value == "True" || value == "true" || value == "1" ||
                  value.empty(),
         isFalse = value == "False" || value == "false" || value == "0";
    if (!isTrue && !isFalse) {
      fail("True or False");
    }
    options.*(*flag) = isTrue;
    return;
  }
  std::optional<double> number = numberOf(value);
  bool isInt = std::holds_alternative<int64_t Options::*>(row.member);
  bool fits = number && *number >= row.least &&
              (row.excludesMost ? *number < row.most : *number <= row.most) &&
              (!isInt || *number == std::floor(*number));
  if (!fits) {
    fail((isInt ? "an integer " : "a number ") + rangeText(row));
  }
  if (isInt) {
    options.*std::get<int64_t Options::*>(row.member) = int64_t(*number);
  } else {
    options.*std::get<double Options::*>(row.member) = *number;
  }
}

std::string gpt2::optionText(const Options &options, const std::string &name) {
  return std::visit(
      [&](auto member) -> std::string {
        const auto &value = options.*member;
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return value;
        } else if constexpr (std::is_same_v<T, bool>) {
          return value ? "True" : "False";
        } else if constexpr (std::is_same_v<T, double>) {
          return textOf(value);
        } else {
          return std::to_string(value);
        }
      },
      knownRow(name).member);
}

nlohmann::json gpt2::toJson(const Options &options) {
  nlohmann::json json;
  for (const Row &row : rows()) {
    if (row.group != std::string_view(samplingGroup)) {
      std::visit([&](auto member) { json[row.name] = options.*member; },
                 row.member);
    }
  }
  return json;
}

Options gpt2::optionsFrom(const nlohmann::json &json) {
  Options options;
  for (const Row &row : rows()) {
    auto found = json.find(row.name);
    if (found == json.end() || row.group == std::string_view(samplingGroup)) {
      continue;
    }
    std::string text = found->is_string()    ? found->get<std::string>()
                       : found->is_boolean() ? (*found ? "True" : "False")
                                             : found->dump();
    try {
      setOption(options, row.name, text);
    } catch (const Error &) {
      options.given.erase(row.name);
    }
  }
  return options;
}

std::vector<OptionRow> gpt2::optionRows(const Options &defaults) {
  std::vector<OptionRow> result;
  for (const Row &row : rows()) {
    bool isFlag = std::holds_alternative<bool Options::*>(row.member);
    std::string byDefault = optionText(defaults, row.name);
    if (byDefault == "\n") {
      byDefault = "a new line";
    }
    result.push_back({row.name,
                      row.help + (byDefault.empty() ? std::string()
                                                    : " [" + byDefault + "]"),
                      row.group, isFlag,
                      row.name == std::string_view("start") ||
                          row.name == std::string_view("multiple_choice")});
  }
  return result;
}

void gpt2::checkOptions(const Options &o) {
  GptConfig config{o.layers, o.heads,    o.width,   o.blockSize, 1,
                   o.bias,   o.tanhGelu, o.dropout, f32};
  // Other models have their own shape.
  if (o.initFrom == "scratch") {
    checkConfig(config);
  }
  if (o.decayLr && o.lrDecayIters < o.warmupIters) {
    refuse("lr_decay_iters: expected at least warmup_iters (" +
           std::to_string(o.warmupIters) + "), got " +
           std::to_string(o.lrDecayIters));
  }
  if (o.decayLr && o.minLr > o.learningRate) {
    refuse("min_lr: expected at most learning_rate (" + textOf(o.learningRate) +
           "), got " + textOf(o.minLr));
  }
}
