//===- MultipleChoice.h - Questions with endings to choose from -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of questions is JSON lines, as HellaSwag's (Zellers et al., arXiv
// 1905.07830):
//   {"ctx": "A man sits on a roof. He", "endings": [" ...", ...], "label": 3}
// Other keys do not matter. A space stands between the context and an ending,
// whose tokens are encoded apart, as llm.c has it. The model chooses the ending
// of the highest log likelihood, summed over its tokens (acc of lm-eval), for
// each character of it (acc_norm of lm-eval) or for each token (acc_norm of
// llm.c).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_MULTIPLECHOICE_H
#define NEREID_APPS_GPT2_TRAIN_MULTIPLECHOICE_H

#include "apps/gpt2/data/Tokenizer.h"
#include "apps/gpt2/distributed/Communicator.h"
#include "apps/gpt2/model/Model.h"

#include <functional>
#include <optional>

namespace nereid::gpt2 {

/// How many questions were answered rightly, by each rule.
struct ChoiceScore {
  int64_t questions = 0, bySum = 0, byCharacter = 0, byToken = 0;

  double share(int64_t right) const {
    return questions ? double(right) / double(questions) : 0;
  }
};

/// "10042 questions, accuracy 0.2859 by sum, 0.3107 by character, 0.2955 by
/// token".
std::string textOf(const ChoiceScore &score);

class Questions {
public:
  /// Throws NotFound or IoError with the place: for no such file, no question,
  /// a line that is not a question, an ending without tokens or with more than
  /// `context`, a text that the tokenizer does not take.
  Questions(const std::string &path, const Tokenizer &tokenizer,
            int64_t context);

  int64_t size() const { return int64_t(questions.size()); }

  /// `rows`: sequences that the model sees at once. Of several processes each
  /// answers a part; the score is that of all. Collective. `isAskedToStop` is
  /// called now and then, in all processes alike; where it says so, there is no
  /// score. Of a model whose numbers are not finite no ending is right.
  std::optional<ChoiceScore>
  score(const Model &model, int64_t rows, Communicator &all,
        const std::function<bool()> &isAskedToStop = {}) const;

private:
  /// A context and one ending.
  struct Sequence {
    std::vector<int32_t> tokens;
    int64_t ending = 0;     ///< tokens at the end
    int64_t characters = 0; ///< of the ending
  };
  struct Question {
    std::vector<Sequence> choices;
    size_t label = 0;
  };

  void addQuestion(std::string_view line, const std::string &place,
                   const Tokenizer &tokenizer, int64_t context);
  /// Log likelihoods of the endings.
  static std::vector<double>
  likelihoods(const Model &model, std::span<const Sequence *const> sequences);

  std::vector<Question> questions;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_MULTIPLECHOICE_H
