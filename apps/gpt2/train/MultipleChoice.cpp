//===- MultipleChoice.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/MultipleChoice.h"

#include "apps/gpt2/data/JsonFile.h"
#include "apps/gpt2/data/Utf8.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

std::string gpt2::textOf(const ChoiceScore &score) {
  char text[160];
  std::snprintf(text, sizeof(text),
                "%lld questions, accuracy %.4f by sum, %.4f by character, "
                "%.4f by token",
                static_cast<long long>(score.questions),
                score.share(score.bySum), score.share(score.byCharacter),
                score.share(score.byToken));
  return text;
}

[[noreturn]] static void refuse(const std::string &place,
                                const std::string &expected,
                                const std::string &got) {
  raise({ErrorCode::IoError,
         place + ": error: expected " + expected + ", got " + got,
         {}});
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static std::string textOfKey(const json &question, const char *key,
                             const std::string &place) {
  auto found = question.find(key);
  if (found == question.end() || !found->is_string()) {
    refuse(place, std::string("a text for the key '") + key + "'",
           found == question.end() ? "none" : shortText(*found));
  }
  return *found;
}

/// Files of Hugging Face have the number as a text.
static size_t labelOf(const json &question, size_t choices,
                      const std::string &place) {
  auto found = question.find("label");
  std::string expected =
      "a number from 0 to " + std::to_string(choices - 1) + " for 'label'";
  if (found == question.end()) {
    refuse(place, expected, "none");
  }
  std::string text = found->is_string()            ? found->get<std::string>()
                     : found->is_number_unsigned() ? found->dump()
                                                   : "";
  size_t label = choices;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc() || end != text.data() + text.size() ||
      label >= choices) {
    refuse(place, expected, shortText(*found));
  }
  return label;
}

void Questions::addQuestion(std::string_view line, const std::string &place,
                            const Tokenizer &tokenizer, int64_t context) {
  ParsedJson parsed = parseJson(line);
  if (!parsed.ok()) {
    raise({ErrorCode::IoError, place + ": error: " + parsed.problem, {}});
  }
  if (!parsed.value.is_object()) {
    refuse(place, "an object with 'ctx', 'endings' and 'label'",
           shortText(parsed.value));
  }
  std::string before = textOfKey(parsed.value, "ctx", place);
  auto endings = parsed.value.find("endings");
  constexpr size_t most = 1000;
  if (endings == parsed.value.end() || !endings->is_array() ||
      endings->size() < 2 || endings->size() > most) {
    refuse(place, "a list of 2 to 1000 texts for 'endings'",
           endings == parsed.value.end() ? "none"
           : endings->is_array() ? "one of " + std::to_string(endings->size())
                                 : shortText(*endings));
  }
  auto encoded = [&](const std::string &text) {
    try {
      return tokenizer.encode(text);
    } catch (const Error &error) {
      raise({ErrorCode::IoError, place + ": error: " + error.message(), {}});
    }
  };
  std::vector<int32_t> beginning = encoded(before);
  if (beginning.empty() && tokenizer.endOfText()) {
    beginning.push_back(*tokenizer.endOfText());
  }
  if (beginning.empty()) {
    refuse(place, "a text of at least one token for 'ctx'", "an empty one");
  }
  Question question;
  question.label = labelOf(parsed.value, endings->size(), place);
  for (const json &one : *endings) {
    if (!one.is_string()) {
      refuse(place, "texts in 'endings'", shortText(one));
    }
    std::string text = one;
    std::vector<int32_t> tokens = encoded(" " + text);
    auto count = int64_t(tokens.size());
    if (text.empty() || count >= context) {
      refuse(place,
             "endings of 1 to " + std::to_string(context - 1) +
                 " tokens, as the model's context allows",
             "one of " + std::to_string(text.empty() ? 0 : count));
    }
    // What the context does not hold is left out at its beginning.
    size_t kept = std::min(beginning.size(), size_t(context - count));
    Sequence sequence;
    sequence.tokens.assign(beginning.end() - std::ptrdiff_t(kept),
                           beginning.end());
    sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
    sequence.ending = count;
    sequence.characters = int64_t(countCharacters(text).characters);
    question.choices.push_back(std::move(sequence));
  }
  questions.push_back(std::move(question));
}

Questions::Questions(const std::string &path, const Tokenizer &tokenizer,
                     int64_t context) {
  std::string text = valueOrThrow(readFile(path, uint64_t{1} << 30));
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    auto line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      addQuestion(line, path + ":" + std::to_string(number), tokenizer,
                  context);
    }
  }
  if (questions.empty()) {
    refuse(path, "lines with 'ctx', 'endings' and 'label'", "none");
  }
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Sizes are few, so that few kernels are compiled.
static int64_t roundedUp(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

std::vector<double>
Questions::likelihoods(const Model &model,
                       std::span<const Sequence *const> sequences) {
  constexpr int64_t unit = 32;
  int64_t length = 1, count = 0;
  for (const Sequence *one : sequences) {
    length = std::max(length, int64_t(one->tokens.size()));
    count += one->ending;
  }
  length = std::min(roundedUp(length, unit), model.config().context);
  auto rows = int64_t(sequences.size());
  std::vector<int32_t> tokens(size_t(rows * length)), places, targets;
  for (int64_t row = 0; row < rows; ++row) {
    const Sequence &one = *sequences[size_t(row)];
    std::ranges::copy(one.tokens, tokens.begin() + row * length);
    auto size = int64_t(one.tokens.size());
    for (int64_t i = size - one.ending; i < size; ++i) {
      places.push_back(int32_t(row * length + i - 1));
      targets.push_back(one.tokens[size_t(i)]);
    }
  }
  places.resize(size_t(roundedUp(count, unit)), 0);
  targets.resize(places.size(), 0);
  Device device = model.device();
  std::vector<float> losses =
      model
          .lossesAt(Tensor::fromVector(tokens, Shape{rows, length}, device),
                    Tensor::fromVector(places, std::nullopt, device),
                    Tensor::fromVector(targets, std::nullopt, device))
          .toVector<float>();
  std::vector<double> sums;
  size_t at = 0;
  for (const Sequence *one : sequences) {
    double sum = 0;
    for (int64_t i = 0; i < one->ending; ++i) {
      sum -= double(losses[at++]);
    }
    sums.push_back(sum);
  }
  return sums;
}

/// The first of the highest; none where one is not a number.
static std::optional<size_t> highest(const std::vector<double> &numbers) {
  if (std::ranges::any_of(numbers, [](double x) { return std::isnan(x); })) {
    return std::nullopt;
  }
  return size_t(std::ranges::max_element(numbers) - numbers.begin());
}

std::optional<ChoiceScore>
Questions::score(const Model &model, int64_t rows, Communicator &all,
                 const std::function<bool()> &isAskedToStop) const {
  size_t most = 1;
  for (const Question &question : questions) {
    most = std::max(most, question.choices.size());
  }
  // As many questions at once in all processes, which stop together.
  int64_t atOnce = std::max<int64_t>(1, rows / int64_t(most));
  int64_t turn = atOnce * all.size();
  ChoiceScore score;
  for (int64_t begin = 0, number = 0; begin < size(); begin += turn, ++number) {
    std::vector<const Question *> asked;
    std::vector<const Sequence *> sequences;
    int64_t own = begin + all.rank() * atOnce;
    for (int64_t i = own; i < std::min(own + atOnce, size()); ++i) {
      asked.push_back(&questions[size_t(i)]);
      for (const Sequence &one : asked.back()->choices) {
        sequences.push_back(&one);
      }
    }
    std::vector<double> sums;
    if (!sequences.empty()) {
      sums = likelihoods(model, sequences);
    }
    size_t at = 0;
    for (const Question *question : asked) {
      std::vector<double> bySum, byCharacter, byToken;
      for (const Sequence &one : question->choices) {
        double sum = sums[at++];
        bySum.push_back(sum);
        byCharacter.push_back(sum / double(one.characters));
        byToken.push_back(sum / double(one.ending));
      }
      score.questions += 1;
      score.bySum += highest(bySum) == question->label;
      score.byCharacter += highest(byCharacter) == question->label;
      score.byToken += highest(byToken) == question->label;
    }
    constexpr int64_t between = 8;
    if (isAskedToStop && number % between == between - 1 && isAskedToStop()) {
      return std::nullopt;
    }
  }
  if (all.size() == 1) {
    return score;
  }
  Tensor counts =
      Tensor::fromVector(
          std::vector{int32_t(score.questions), int32_t(score.bySum),
                      int32_t(score.byCharacter), int32_t(score.byToken)})
          .to(model.device());
  all.allReduce(counts);
  all.join();
  std::vector<int32_t> sums = counts.toVector<int32_t>();
  all.check();
  return ChoiceScore{sums[0], sums[1], sums[2], sums[3]};
}
