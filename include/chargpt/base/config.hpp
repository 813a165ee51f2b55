#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chargpt/base/config_key.hpp"

namespace chargpt {

/// What a data file is. `text`: one document; `lines`: each line is a document; `jsonl`: each line is a JSON object
/// that holds one; `bytes`: one document whose symbols are the 256 bytes, of whatever file; `automatic` takes jsonl for
/// a path that ends in ".jsonl" (also before ".gz" or ".zst"), text otherwise.
enum class DataFormat { automatic, text, lines, jsonl, bytes };
std::string_view name(DataFormat value);

/// How train, validation and test parts are cut. `contiguous`: in file order, at characters of texts and at documents
/// of lines and JSONL; `document`: whole documents in a seeded random order; `hashed`: whole documents, each by its own
/// content, so that it keeps its part when others come and go; `automatic`: contiguous for texts, document otherwise.
enum class SplitMethod { automatic, contiguous, document, hashed };
std::string_view name(SplitMethod value);

/// Unicode normalisation form (Unicode standard annex 15) that a text is brought into before it is read as characters.
enum class Normalization { none, nfc, nfkc };
std::string_view name(Normalization value);

/// Whether windows may reach from one document into the next. `automatic`: those of lines do, others do not.
enum class CrossDocuments { automatic, no, yes };
std::string_view name(CrossDocuments value);

/// Which windows a step trains on: independent uniform draws, or each window once an epoch in a seeded order.
enum class WindowOrder { random, shuffled };
std::string_view name(WindowOrder value);

/// One way of computing the network; all give the same numbers. `heads`: the lecture's modules, head by head; `fused`:
/// modules with one q, k, v product and one attention for all heads; `native`: our own kernels, on a CPU only.
/// `automatic` takes native on a CPU and fused elsewhere.
enum class AttentionPath { automatic, heads, fused, native };
std::string_view name(AttentionPath value);

/// How weights are drawn before the first step, by LibTorch's generator. `pytorch`: the defaults of PyTorch's modules;
/// `gpt2`: normal of deviation 0.02 for embeddings and Linear weights, divided by sqrt(2 layers) for those that end a
/// residual branch (mha.proj, ff.ln2), biases 0 (Radford et al., "Language models are unsupervised multitask learners",
/// 2019, section 2.3). LayerNorms begin as 1 and 0 in both.
enum class Initialization { pytorch, gpt2 };
std::string_view name(Initialization value);

/// In which windows a text is scored. `windows`: windows side by side, or those of a training with that stride;
/// `sliding`: every character once, from a window moved by a stride; `random`: a random part of all training windows.
enum class EvalMode { windows, sliding, random };
std::string_view name(EvalMode value);

/// What happens to a character that is scored and not in the vocabulary: refused; left out; left out and charged at a
/// fixed cost.
enum class UnknownRule { error, skip, charge };
std::string_view name(UnknownRule value);

/// Of what numbers the matrix products are. `bf16`: operands rounded to bfloat16 (8 bits of significand), with sums and
/// all else in 32-bit floats, on the native path and where the processor has instructions for it.
enum class Precision { fp32, bf16 };
std::string_view name(Precision value);

enum class DecayScope { all, matrices };
std::string_view name(DecayScope value);

enum class OptimizerName { adamw, sgd };
std::string_view name(OptimizerName value);

/// The course of the learning rate after warm-up; see learning_rate(). wsd: warm-up, stable, decay.
enum class ScheduleName { constant, linear, cosine, step, inverse_sqrt, wsd };
std::string_view name(ScheduleName value);

/// What happens at a loss or gradient that is not finite. `stop`: the run ends with exit code 76; `skip`: the step
/// changes no weights and is marked in the metrics.
enum class NonFinitePolicy { stop, skip };
std::string_view name(NonFinitePolicy value);

// In each section a key is a member and the row beside it in describe(): name, member, range, help. Adding a key is
// adding those two lines; parsing, --set, the environment, messages, schema, README table and checkpoints follow.

struct DataConfig {
  std::string path{};
  std::string val_path{};
  std::string test_path{};
  DataFormat format = DataFormat::automatic;
  std::string field = "text";
  std::string encoding = "UTF-8";  ///< as iconv names it
  Normalization normalize = Normalization::none;
  double val_fraction = 0.1;
  double test_fraction = 0.0;
  SplitMethod split = SplitMethod::automatic;
  std::int64_t split_seed = 1;
  std::string vocabulary{};         ///< a file that gives the vocabulary; empty: made from the data
  std::int64_t min_count = 1;       ///< rarer characters become the unknown mark
  std::int64_t max_vocabulary = 0;  ///< most characters kept, the frequent ones; 0: all
  WindowOrder windows = WindowOrder::random;
  std::int64_t stride = 1;
  CrossDocuments cross_documents = CrossDocuments::automatic;
  std::string cache = "auto";  ///< "auto", "off" or a folder

  bool crosses_documents() const;  ///< cross_documents with `automatic` settled

  void describe(KeyList& keys);
};

struct ModelConfig {
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t width = 128;
  std::int64_t context = 64;
  double dropout = 0.0;
  bool embedding_dropout = false;  ///< dropout of the sum of both embeddings too
  bool tied_head = false;          ///< the head's matrix is token_emb.weight; lm has a bias at most
  bool bias = true;                ///< of the Linear layers (but key, query and value) and of the LayerNorms
  Initialization initialization = Initialization::pytorch;
  AttentionPath attention = AttentionPath::automatic;

  std::int64_t head_size() const { return width / heads; }
  void describe(KeyList& keys);
};

struct TrainConfig {
  // Exactly one of the first three is not 0 and says how long to train.
  std::int64_t steps = 2000;     ///< optimizer steps
  std::int64_t epochs = 0;       ///< passes over the training windows
  std::int64_t characters = 0;   ///< characters trained on, counted as often as they are
  double target_loss = 0.0;      ///< validation loss in nats per character at which the run ends; 0: none
  std::int64_t patience = 0;     ///< evaluations without a new best one after which the run ends; 0: never
  std::int64_t batch = 32;       ///< windows per optimizer step
  AutoInteger micro_batch = 0;   ///< windows per pass; 0: batch; auto: settled before a run by choose_micro_batch()
  double label_smoothing = 0.0;  ///< of the training loss, never of an evaluation
  double ema = 0.0;              ///< decay of the average of the weights; 0: no average
  bool eval_first = false;       ///< evaluate before the first step too
  Interval eval_every = 250;     ///< 0: only at the end
  Interval save_every = 0;       ///< 0: only at evaluations that are the best so far, and at the end
  std::int64_t keep = 2;         ///< checkpoints kept besides the best
  std::int64_t log_every = 50;   ///< steps between progress lines where stderr is no terminal
  Interval sample_every = 0;     ///< samples are drawn with the `sample` section; 0: none
  std::vector<std::string> sample_prompts;  ///< one sample continues each; none: sample.prompt alone
  NonFinitePolicy on_nonfinite = NonFinitePolicy::stop;

  std::int64_t windows_per_pass() const { return micro_batch.value_or(0) == 0 ? batch : *micro_batch; }
  void describe(KeyList& keys);
};

struct EvalConfig {
  EvalMode mode = EvalMode::windows;
  std::int64_t stride = 0;       ///< characters from window to window; 0: see evaluation_windows()
  std::int64_t windows = 10000;  ///< how many `random` draws
  UnknownRule unknown = UnknownRule::skip;
  double unknown_nats = 13.92;  ///< cost of an unknown character; default: one of Unicode's 1,114,112 code points
  std::int64_t batch = 64;      ///< windows per pass; changes speed and memory, never the result

  void describe(KeyList& keys);
};

struct OptimizerConfig {
  OptimizerName name = OptimizerName::adamw;
  double learning_rate = 1e-3;
  std::vector<double> betas = {0.9, 0.999};
  double epsilon = 1e-8;
  double momentum = 0.0;  ///< of SGD
  double weight_decay = 0.01;
  DecayScope decay = DecayScope::all;
  double clip = 0.0;  ///< largest global gradient norm; 0: no clipping

  void describe(KeyList& keys);
};

struct ScheduleConfig {
  ScheduleName name = ScheduleName::constant;
  PartOfRun warmup = 0;
  double min_learning_rate = 0.0;
  PartOfRun decay = {20.0, true};      ///< of wsd: how long before the run's end the decay begins
  PartOfRun step_size = {30.0, true};  ///< of step: how long each rate lasts
  double gamma = 0.1;                  ///< of step: factor from one rate to the next

  void describe(KeyList& keys);
};

struct RunConfig {
  std::int64_t seed = 1;
  std::string device = "auto";
  Precision precision = Precision::fp32;
  std::int64_t threads = 0;                     ///< 0: as many as the process may use
  bool pin = false;                             ///< whether each thread stays on a core of its own
  std::string stop_signals = "INT, TERM, HUP";  ///< see parse_signal_list()
  bool tf32 = false;                            ///< matrix products on CUDA in TensorFloat-32
  bool tensorboard = false;                     ///< write event files for TensorBoard beside metrics.jsonl

  void describe(KeyList& keys);
};

struct SampleConfig {
  std::string prompt;
  std::string unknown = "error";  ///< see parse_unknown_prompt()
  std::int64_t length = 500;
  bool until_end_mark = false;    ///< `length` does not count
  std::vector<std::string> stop;  ///< none of them empty
  std::int64_t samples = 1;
  std::string ban;
  std::string allow;  ///< empty: every character
  double repetition_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  std::int64_t penalty_window = 64;  ///< characters
  double temperature = 1.0;
  std::int64_t top_k = 0;
  double top_p = 1.0;
  double min_p = 0.0;
  double typical = 1.0;
  std::int64_t seed = 1;
  bool exact = false;  ///< a full window loses its first id only, not its first half

  void describe(KeyList& keys);
};

struct Config {
  DataConfig data;
  ModelConfig model;
  TrainConfig train;
  EvalConfig eval;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  RunConfig run;
  SampleConfig sample;
};

/// The rows of every section, in the order of the struct, bound to the members of `config`, which must outlive them.
KeyList describe(Config& config);

/// Rules between keys (each key's own range is checked where it is set). Throws Error(usage) naming both keys with
/// their values and what to change.
void check_rules(const Config& config);
void check_rules(const SampleConfig& sample);

}  // namespace chargpt
