//===- CheckpointTest.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"

#include "apps/gpt2/checkpoint/OptimizerState.h"
#include "nereid/Weights/Testing.h"
#include "nereid/nereid.h"

#include <csignal>
#include <gmock/gmock.h>
#include <random>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A set all of whose numbers follow from its step.
static Checkpoint checkpointOf(uint64_t step, int64_t size = 8) {
  auto values = [&](double base) {
    return full({size, 4}, base + double(step), f32, Device::cpu());
  };
  Checkpoint checkpoint;
  checkpoint.weights = {
      {"transformer.wte.weight", values(0)},
      {"transformer.h.0.attn.c_attn.weight",
       arange({12, 4}, bf16, Device::cpu(), double(step % 8))}};
  checkpoint.optimizer = {
      {"m.transformer.wte.weight", values(1)},
      {"powers", full({2}, 1 / (3.0 + double(step)), f64, Device::cpu())}};
  TrainingState &state = checkpoint.state;
  state.step = step;
  state.dataStep = 2 * step;
  state.seed = UINT64_MAX - step;
  state.bestLoss = 0.1 + double(step);
  state.options = {{"learning_rate", 6e-4 / 3}, {"dataset", "\xc3\xa9"}};
  state.model = {{"n_layer", 1}};
  state.generator = {{"counter", UINT64_MAX}};
  return checkpoint;
}

static void expectEqual(const Checkpoint &got, const Checkpoint &expected) {
  auto lists = {std::pair(&got.weights, &expected.weights),
                std::pair(&got.optimizer, &expected.optimizer)};
  for (const auto &[a, b] : lists) {
    ASSERT_EQ(a->size(), b->size());
    for (const NamedTensor &one : *b) {
      auto same = std::find_if(a->begin(), a->end(), [&](const auto &other) {
        return other.name == one.name;
      });
      ASSERT_NE(same, a->end()) << one.name;
      EXPECT_TRUE(haveSameBits(same->tensor, one.tensor)) << one.name;
    }
  }
  const TrainingState &a = got.state, &b = expected.state;
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.dataStep, b.dataStep);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.bestLoss, b.bestLoss);
  EXPECT_EQ(a.options, b.options);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.schedule, b.schedule);
}

static std::set<std::string> filesOf(const std::string &folder) {
  std::set<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename());
  }
  return names;
}

TEST(Checkpoint, givesBackWhatWasSaved) {
  TestFolder folder;
  EXPECT_FALSE(hasCheckpoint(folder.path));
  saveCheckpoint(folder.path, checkpointOf(3));
  EXPECT_TRUE(hasCheckpoint(folder.path));
  expectEqual(loadCheckpoint(folder.path), checkpointOf(3));
  EXPECT_EQ(loadTrainingState(folder.path).dataStep, 6u);
  Checkpoint endless = checkpointOf(4);
  endless.state.bestLoss = std::numeric_limits<double>::infinity();
  saveCheckpoint(folder.path, endless);
  expectEqual(loadCheckpoint(folder.path), endless);
}

TEST(Checkpoint, filesHaveHuggingFaceLayout) {
  TestFolder folder;
  saveCheckpoint(folder.path, checkpointOf(3));
  SafetensorsFile file(folder / "ckpt.safetensors");
  EXPECT_EQ(file.find("transformer.h.0.attn.c_attn.weight").shape(),
            (Shape{4, 12}));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(nlohmann::json::parse(file.metadata().at("config"))["n_layer"], 1);
}

TEST(Checkpoint, keepsTheNewestSetAlone) {
  TestFolder folder;
  writeContent(folder / "notes.txt", "mine");
  for (const char *mine :
       {"ckpt-best.safetensors", "ckpt-2026-11-25.safetensors",
        "optimizer-01.safetensors"}) {
    writeContent(folder / mine, "mine");
  }
  // What killed saves leave behind.
  writeContent(folder / "ckpt-1.safetensors", "half");
  writeContent(folder / ".tmp-1-2-3", "half");
  CheckpointWriter writer(folder.path);
  for (uint64_t step : {1, 2, 2}) {
    writer.save(checkpointOf(step));
  }
  writer.wait();
  expectEqual(loadCheckpoint(folder.path), checkpointOf(2));
  EXPECT_EQ(filesOf(folder.path),
            (std::set<std::string>{"notes.txt", "ckpt-best.safetensors",
                                   "ckpt-2026-11-25.safetensors",
                                   "optimizer-01.safetensors", "state.json",
                                   "ckpt.safetensors", "ckpt-2-1.safetensors",
                                   "optimizer-2-1.safetensors"}));
}

/// Evaluated after its step.
static Checkpoint evaluatedAt(uint64_t step, double loss, double best,
                              uint64_t bestStep) {
  Checkpoint checkpoint = checkpointOf(step);
  checkpoint.state.loss = loss;
  checkpoint.state.bestLoss = best;
  checkpoint.state.bestStep = bestStep;
  return checkpoint;
}

TEST(Checkpoint, theBestAndTheLastAreTwo) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  auto choiceOf = [&](const std::string &which) {
    return loadCheckpoint(folder.path, which).choice;
  };
  Checkpoint best = evaluatedAt(3, 2.5, 2.5, 3);
  writer.save(best, {.isBest = true});
  writer.wait();
  EXPECT_EQ(choiceOf(""), "the best and last checkpoint, of step 3 (validation "
                          "loss 2.5000)");
  EXPECT_EQ(filesOf(folder.path).size(), 5U) << "one set, two links";
  // As a run that is stopped.
  Checkpoint last = evaluatedAt(7, 0, 2.5, 3);
  last.state.loss.reset();
  writer.save(last);
  writer.save(last);
  writer.wait();
  expectEqual(loadCheckpoint(folder.path), last);
  expectEqual(loadCheckpoint(folder.path, "last"), last);
  expectEqual(loadCheckpoint(folder.path, "best"), best);
  expectEqual(loadCheckpoint(folder.path, ""), best);
  expectEqual(loadCheckpoint(folder.path, "3"), best);
  EXPECT_EQ(loadTrainingState(folder.path, "best").bestStep, 3U);
  EXPECT_FALSE(loadTrainingState(folder.path).loss);
  EXPECT_EQ(choiceOf(""), "the best checkpoint, of step 3 (validation loss "
                          "2.5000); --checkpoint=last is of step 7");
  EXPECT_EQ(choiceOf("last"), "the last checkpoint, of step 7");
  EXPECT_EQ(choiceOf("7"), "the checkpoint, of step 7");
  EXPECT_THAT(errorOf([&] { choiceOf("5"); }),
              HasSubstr("expected one of its checkpoints, last (step 7), best "
                        "(step 3), got '5'"));
  EXPECT_EQ(filesOf(folder.path),
            (std::set<std::string>{
                "state.json", "ckpt.safetensors", "best.safetensors",
                "ckpt-3.safetensors", "optimizer-3.safetensors",
                "ckpt-7-1.safetensors", "optimizer-7-1.safetensors"}));
  // A run that goes back to an earlier step does not forget it.
  saveCheckpoint(folder / "worse", evaluatedAt(2, 4, 4, 2), {.keep = 2});
  saveCheckpoint(folder / "worse", evaluatedAt(3, 3, 3, 3),
                 {.isBest = true, .keep = 2});
  EXPECT_EQ(loadCheckpoint(folder / "worse", "2").state.bestLoss, 3);
}

TEST(Checkpoint, keepsOlderOnes) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  for (uint64_t step : {1, 2, 3, 4, 5}) {
    writer.save(checkpointOf(step), {.isBest = step == 1, .keep = 2});
  }
  writer.wait();
  EXPECT_EQ(filesOf(folder.path).size(), 3 + 2 * 4U) << "5, 4, 3, and 1";
  for (uint64_t step : {1, 3, 4, 5}) {
    Checkpoint expected = checkpointOf(step);
    expected.state.bestLoss = checkpointOf(1).state.bestLoss;
    expectEqual(loadCheckpoint(folder.path, std::to_string(step)), expected);
  }
  EXPECT_THAT(errorOf([&] { loadCheckpoint(folder.path, "2"); }),
              HasSubstr("last (step 5), best (step 1), 4, 3, got '2'"));
  // From step 3 on again: what lies after it is another run's.
  writer.save(checkpointOf(4), {.keep = 2});
  writer.wait();
  EXPECT_EQ(filesOf(folder.path).size(), 3 + 2 * 3U) << "4, 3, and 1";
}

TEST(Checkpoint, aNewRunReplacesAllWithItsFirstSave) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  for (uint64_t step : {1, 2, 3}) {
    writer.save(checkpointOf(step), {.isBest = step == 1, .keep = 2});
  }
  writer.wait();
  writeContent(folder / "notes.txt", "mine");
  // Even where nothing can read what was.
  writeContent(folder / "state.json", "{");
  writer.save(checkpointOf(2), {.keep = 2, .isNewRun = true});
  writer.wait();
  EXPECT_EQ(filesOf(folder.path),
            (std::set<std::string>{"notes.txt", "state.json",
                                   "ckpt.safetensors", "ckpt-2-1.safetensors",
                                   "optimizer-2-1.safetensors"}));
  expectEqual(loadCheckpoint(folder.path), checkpointOf(2));
}

TEST(Checkpoint, aSaveKeepsWhatAnUnreadableStateNames) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  for (uint64_t step : {1, 2, 3}) {
    writer.save(checkpointOf(step), {.isBest = step == 1, .keep = 2});
  }
  writer.wait();
  std::string state = contentOf(folder / "state.json");
  writeContent(folder / "state.json", state.substr(0, 100));
  std::set<std::string> files = filesOf(folder.path);
  writer.save(checkpointOf(4), {.keep = 2});
  EXPECT_THAT(errorOf([&] { writer.wait(); }),
              AllOf(HasSubstr("state.json': expected JSON, got a syntax error"),
                    HasSubstr("the checkpoint is damaged")));
  EXPECT_EQ(filesOf(folder.path), files);
  writeContent(folder / "state.json", state);
  writer.save(checkpointOf(4), {.keep = 2});
  writer.wait();
  for (const char *step : {"4", "3", "2", "1"}) {
    EXPECT_EQ(errorOf([&] { loadCheckpoint(folder.path, step); }), "");
  }
}

TEST(Checkpoint, tellsWhatGoingBackRemoves) {
  TestFolder folder;
  EXPECT_TRUE(stepsBehind(folder.path, 0).empty());
  CheckpointWriter writer(folder.path);
  for (uint64_t step : {1, 2, 3, 4}) {
    writer.save(checkpointOf(step), {.isBest = step == 3, .keep = 5});
  }
  writer.wait();
  EXPECT_EQ(stepsBehind(folder.path, 1), (std::vector<uint64_t>{4, 2}));
  EXPECT_TRUE(stepsBehind(folder.path, 4).empty());
}

TEST(Checkpoint, theBestIsTheLastWhereTheyAreOneFile) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  writer.save(evaluatedAt(3, 2.5, 2.5, 3), {.isBest = true});
  // From an earlier step on again, to the same step.
  writer.save(evaluatedAt(2, 4, 2.5, 3));
  writer.save(evaluatedAt(3, 3.5, 2.5, 3));
  writer.wait();
  EXPECT_EQ(loadCheckpoint(folder.path, "").choice,
            "the best checkpoint, of step 3 (validation loss 2.5000); "
            "--checkpoint=last is of step 3 (validation loss 3.5000)");
}

TEST(Checkpoint, weightsAloneAreEnough) {
  TestFolder folder;
  Checkpoint saved = checkpointOf(3);
  std::swap(saved.weights[0], saved.weights[1]); // bf16
  saved.optimizer.push_back({"master.transformer.h.0.attn.c_attn.weight",
                             full({12, 4}, 1 / 3.0, f32, Device::cpu())});
  saveCheckpoint(folder.path, saved);
  EXPECT_EQ(loadWeights(folder.path, "").optimizer.size(), 1U)
      << "master weights";
  std::filesystem::remove(folder / "optimizer-3.safetensors");
  ::testing::internal::CaptureStderr();
  Checkpoint got = loadWeights(folder.path, "");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("optimizer-3.safetensors': the checkpoint is not "
                        "complete: expected this file, as state.json says, got "
                        "none; the weights are whole: "));
  EXPECT_EQ(got.weights.size(), 2U);
  EXPECT_TRUE(got.optimizer.empty());
  EXPECT_THAT(errorOf([&] { loadCheckpoint(folder.path); }),
              HasSubstr("--init_from=" + folder.path +
                        " with another --out_dir begins a run with them"));
}

TEST(Checkpoint, readsItsFirstVersion) {
  TestFolder folder;
  saveCheckpoint(folder.path, checkpointOf(3));
  auto state = nlohmann::json::parse(contentOf(folder / "state.json"));
  for (const char *key : {"loss", "best_step", "data", "older", "checksum"}) {
    EXPECT_EQ(state.erase(key), 1U) << key;
  }
  state["version"] = 1;
  writeContent(folder / "state.json", state.dump());
  expectEqual(loadCheckpoint(folder.path), checkpointOf(3));
  // Without a checksum, the weights know their step and their model.
  for (auto [key, value] : {std::pair<std::string, nlohmann::json>("step", 4),
                            {"model", {{"n_layer", 2}}}}) {
    auto other = state;
    other[key] = value;
    writeContent(folder / "state.json", other.dump());
    EXPECT_THAT(errorOf([&] { loadCheckpoint(folder.path); }),
                HasSubstr("expected the step and the model that "
                          "ckpt-3.safetensors has, got others"));
  }
}

TEST(Checkpoint, saysWhenItIsWritten) {
  TestFolder folder;
  std::string told;
  CheckpointWriter writer(folder.path, [&](const std::string &weights,
                                           const TrainingState &state,
                                           const SaveOptions &options) {
    told += weights + ": " + std::to_string(state.step) + options.said;
    expectEqual(loadCheckpoint(folder.path), checkpointOf(state.step));
  });
  writer.save(checkpointOf(4), {.said = ", well"});
  writer.wait();
  EXPECT_EQ(told, folder / "ckpt-4.safetensors" + ": 4, well");
}

TEST(Checkpoint, copiesBeforeTrainingGoesOn) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  Checkpoint checkpoint = checkpointOf(5, 100000);
  writer.save(checkpoint);
  for (const NamedTensor &one : checkpoint.weights) {
    one.tensor.fill(-1);
  }
  writer.wait();
  EXPECT_FALSE(writer.isBusy());
  expectEqual(loadCheckpoint(folder.path), checkpointOf(5, 100000));
}

TEST(Checkpoint, saysWhatIsDamaged) {
  TestFolder folder;
  auto message = [&] { return errorOf([&] { loadCheckpoint(folder.path); }); };
  EXPECT_THAT(message(), HasSubstr("expected a checkpoint (state.json), got "
                                   "none; train one first"));
  saveCheckpoint(folder.path, checkpointOf(3));
  std::string state = contentOf(folder / "state.json");
  auto withState = [&](const std::string &from, const std::string &to) {
    std::string text = state;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    writeContent(folder / "state.json", text.replace(at, from.size(), to));
    return message();
  };
  EXPECT_THAT(withState("{", "["), HasSubstr("expected JSON, got a syntax"));
  // Copies of it would end the stack.
  std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_THAT(withState("\"step\": 3", "\"step\": " + deep),
              HasSubstr("nested at most 64 deep"));
  EXPECT_THAT(withState("\"step\": 3", "\"step\": [1, [2]]"),
              HasSubstr("to be a number from 0 on, got a list"));
  EXPECT_THAT(withState("nereid-gpt2 checkpoint", "another"),
              HasSubstr("got that of another program; choose another folder"));
  EXPECT_THAT(withState("\"version\": 2", "\"version\": 3"),
              HasSubstr("expected version 2 of checkpoints, got 3; read it "
                        "with the nereid-gpt2 that wrote it"));
  EXPECT_THAT(withState("\"step\": 3", "\"step\": -3"),
              HasSubstr("expected 'step' to be a number from 0 on, got -3"));
  EXPECT_THAT(withState("\"seed\"", "\"sead\""),
              HasSubstr("expected the key 'seed', got none"));
  EXPECT_THAT(withState("\"best_loss\": 3.1", "\"best_loss\": \"low\""),
              HasSubstr("expected 'best_loss' to be a number or null"));
  EXPECT_THAT(withState("\"schedule\": {}", "\"schedule\": 1"),
              HasSubstr("expected 'schedule' to be an object, got number"));
  EXPECT_THAT(withState("\"ckpt-3.safetensors\"", "7"),
              HasSubstr("expected 'name' to be a text, got 7"));
  EXPECT_THAT(withState("ckpt-3.safetensors", "../x.safetensors"),
              HasSubstr("expected the name of a tensor file of this folder"));
  // Numbers that could be right.
  for (auto [from, to] : {std::pair("ckpt-3.safetensors", "ckpt-4.safetensors"),
                          {"\"step\": 3", "\"step\": 4"},
                          {"\"n_layer\": 1", "\"n_layer\": 2"}}) {
    EXPECT_THAT(withState(from, to),
                HasSubstr("state.json': the checkpoint is damaged: expected "
                          "the checksum that this file has of itself"));
  }
  EXPECT_THAT(withState("\"step\": 3", "\"step\": 18446744073709551615"),
              HasSubstr("expected 'step' to be at most 1000000000000000, got "
                        "18446744073709551615"));
  std::filesystem::rename(folder / "ckpt-3.safetensors", folder / "away");
  writeContent(folder / "state.json", state);
  EXPECT_THAT(message(),
              HasSubstr("the checkpoint is not complete: expected this file"));
  std::filesystem::rename(folder / "away", folder / "ckpt-3.safetensors");
  writeContent(folder / "state.json", "");
  EXPECT_THAT(message(), HasSubstr("state.json': expected JSON"));
  writeContent(folder / "state.json", state);

  for (std::string name : {"ckpt-3.safetensors", "optimizer-3.safetensors"}) {
    std::string whole = contentOf(folder / name), damaged = whole;
    writeContent(folder / name, whole.substr(0, whole.size() / 2));
    EXPECT_THAT(message(), HasSubstr(name +
                                     "': the checkpoint is damaged: "
                                     "expected " +
                                     std::to_string(whole.size()) + " bytes"));
    damaged.back() ^= 1;
    writeContent(folder / name, damaged);
    EXPECT_THAT(message(), HasSubstr("expected the checksum that state.json "
                                     "has, got another; "));
    damaged[8] = 'x';
    writeContent(folder / name, damaged);
    EXPECT_THAT(message(), HasSubstr("expected a safetensors file"));
    EXPECT_THAT(message(), name[0] == 'c'
                               ? HasSubstr("start again with --init_from=scr")
                               : HasSubstr("the weights are whole: "
                                           "--init_from="));
    writeContent(folder / name, whole);
  }
  expectEqual(loadCheckpoint(folder.path), checkpointOf(3));
}

TEST(Checkpoint, keepsTheLastOneWhenTheDiskIsFull) {
  TestFolder folder;
  CheckpointWriter writer(folder.path);
  writer.save(checkpointOf(3));
  writer.wait();
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {10000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message = errorOf([&] {
    writer.save(checkpointOf(4, 10000));
    writer.wait();
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(message, HasSubstr("optimizer-4.safetensors': File too large"));
  EXPECT_THAT(message, HasSubstr("; the checkpoint before this one is kept"));
  expectEqual(loadCheckpoint(folder.path), checkpointOf(3));
  // Once there is room, saves go on.
  writer.save(checkpointOf(5));
  writer.wait();
  expectEqual(loadCheckpoint(folder.path), checkpointOf(5));
}

TEST(Checkpoint, refusesFoldersThatItCannotWriteTo) {
  TestFolder folder;
  writeContent(folder / "file", "x");
  EXPECT_THAT(errorOf([&] { CheckpointWriter writer(folder / "file"); }),
              HasSubstr("it is a file"));
  EXPECT_THAT(errorOf([&] { CheckpointWriter writer(folder / "file/x"); }),
              HasSubstr("Not a directory"));
  EXPECT_THAT(errorOf([&] { CheckpointWriter writer(""); }),
              HasSubstr("expected the name of a file, got nothing"));
  if (::geteuid() != 0) {
    std::filesystem::create_directory(folder / "locked");
    ::chmod((folder / "locked").c_str(), 0500);
    EXPECT_THAT(errorOf([&] { CheckpointWriter writer(folder / "locked"); }),
                HasSubstr("choose a folder that this user may write to"));
  }
  CheckpointWriter writer(folder / "new/folder");
  EXPECT_THAT(errorOf([&] { CheckpointWriter other(folder / "new/folder"); }),
              HasSubstr("another process writes its checkpoints here"));
}

TEST(Checkpoint, copiesValuesInPlace) {
  auto make = [](double value, Shape shape, DType dtype = f32) {
    return full(std::move(shape), value, dtype, Device::cpu());
  };
  std::vector<NamedTensor> to = {{"a", make(0, {2})}, {"b", make(0, {3})}};
  void *place = to[0].tensor.data();
  auto copy = [&](std::vector<NamedTensor> values) {
    return errorOf([&] { copyInto(to, values, "weights", "out"); });
  };
  EXPECT_THAT(copy({{"a", make(1, {2})}}),
              HasSubstr("'out': weights 'b': expected fp32[3], got none"));
  EXPECT_THAT(copy({{"a", make(1, {2})}, {"b", make(1, {4})}}),
              HasSubstr("expected fp32[3], got fp32[4]; the options must be"));
  EXPECT_THAT(copy({{"a", make(1, {2})}, {"b", make(1, {3}, bf16)}}),
              HasSubstr("expected fp32[3], got bf16[3]"));
  EXPECT_THAT(
      copy({{"a", make(1, {2})}, {"b", make(1, {3})}, {"c", make(1, {1})}}),
      HasSubstr("weights 'c': nothing takes this tensor"));
  EXPECT_EQ(to[0].tensor.at({0}), 0) << "a refused copy changes nothing";
  EXPECT_EQ(copy({{"b", make(2, {3})}, {"a", make(1, {2})}}), "");
  EXPECT_EQ(to[0].tensor.data(), place);
  EXPECT_EQ(to[1].tensor.at({2}), 2);
}

TEST(Checkpoint, anOptimizerGoesOnWithTheSameBits) {
  TestFolder folder;
  struct Run {
    Variable w, bias;
    kernels::AdamW optimizer;
    Run()
        : w(randn({9, 5}, bf16, Device::cpu(), 1), true),
          bias(randn({5}, f32, Device::cpu(), 2), true) {
      optimizer.add(w);
      optimizer.add(bias, 0);
    }
    void step(uint64_t seed) {
      w.setGrad(randn({9, 5}, bf16, Device::cpu(), 10 + seed));
      bias.setGrad(randn({5}, f32, Device::cpu(), 20 + seed));
      optimizer.setLearningRate(0.01 / double(1 + seed));
      optimizer.step();
    }
    std::vector<NamedTensor> weights() const {
      return {{"w", w.value()}, {"b", bias.value()}};
    }
    std::vector<NamedTensor> moments() const {
      return optimizerTensors(optimizer, std::vector<std::string>{"w", "b"});
    }
  };
  Run whole, first, second;
  for (uint64_t i = 0; i < 6; ++i) {
    whole.step(i);
    if (i < 3) {
      first.step(i);
    }
  }
  saveCheckpoint(folder.path, {first.weights(), first.moments(), {}});
  Checkpoint saved = loadCheckpoint(folder.path);
  EXPECT_EQ(saved.optimizer.size(), 6u) << "m and v, a master, powers";
  copyInto(second.weights(), saved.weights, "weights", folder.path);
  copyInto(second.moments(), saved.optimizer, "optimizer", folder.path);
  for (uint64_t i = 3; i < 6; ++i) {
    second.step(i);
  }
  EXPECT_TRUE(haveSameBits(whole.w.value(), second.w.value()));
  EXPECT_TRUE(haveSameBits(whole.bias.value(), second.bias.value()));
  EXPECT_FALSE(haveSameBits(first.w.value(), second.w.value()));
}

//===----------------------------------------------------------------------===//
// Killed at any moment
//===----------------------------------------------------------------------===//

static constexpr const char *childFolder = "GPT2_TEST_CHECKPOINT_FOLDER";
static constexpr int64_t childSize = 30000;

/// What the test below starts, and kills.
TEST(CheckpointProcess, savesForEver) {
  const char *folder = std::getenv(childFolder);
  if (!folder) {
    GTEST_SKIP() << "a part of Checkpoint.survivesKill";
  }
  CheckpointWriter writer(folder);
  for (uint64_t step =
           hasCheckpoint(folder) ? loadTrainingState(folder).step + 1 : 1;
       ; ++step) {
    writer.save(checkpointOf(step, childSize));
  }
}

TEST(Checkpoint, survivesKill) {
  TestFolder folder;
  std::mt19937 random(7);
  uint64_t before = 0, leftovers = 0;
  // Until a save was interrupted, too.
  for (int round = 0; round < 12 || leftovers == 0; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      ::setenv(childFolder, folder.path.c_str(), 1);
      ::freopen("/dev/null", "w", stdout);
      ::execl("/proc/self/exe", "NereidGpt2Tests",
              "--gtest_filter=CheckpointProcess.*", nullptr);
      ::_exit(1);
    }
    // At least one save, then any moment of a later one.
    auto isNew = [&] {
      return hasCheckpoint(folder.path) &&
             loadTrainingState(folder.path).step > before;
    };
    while (!isNew()) {
      std::this_thread::yield();
    }
    // A save makes some files and removes others.
    auto files = filesOf(folder.path);
    for (auto changes = random() % 8; changes > 0; --changes) {
      auto now = filesOf(folder.path);
      while (now == files) {
        std::this_thread::yield();
        now = filesOf(folder.path);
      }
      files = std::move(now);
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    Checkpoint last = loadCheckpoint(folder.path);
    EXPECT_GT(last.state.step, before);
    before = last.state.step;
    expectEqual(last, checkpointOf(before, childSize));
    leftovers += filesOf(folder.path).size() > 4;
  }
}
