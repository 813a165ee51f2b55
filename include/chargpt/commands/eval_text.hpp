#pragma once

#include "chargpt/base/model_choice.hpp"
#include "chargpt/base/scored_text.hpp"
#include "chargpt/commands/request.hpp"

namespace chargpt {

/// The text that eval scores, for a model of the vocabulary `tokenizer`: --data, or a part of the data that `run`,
/// whose vocabulary is `of_run`, was trained on, which must be the same still. Obeys eval.unknown and says on stderr
/// what it does about unknown characters. Errors: usage, no_input, bad_data.
ScoredText text_to_score(const Request& request, const ChosenModel& run, const Tokenizer& of_run,
                         const Tokenizer& tokenizer);

/// The data that the run of `chosen` was trained on, cut into its parts again. Errors: usage for a lone model file,
/// bad_data when the data is not the same any more.
Corpus run_corpus(const Request& request, const ChosenModel& chosen, const Tokenizer& tokenizer);

}  // namespace chargpt
