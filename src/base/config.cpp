#include "chargpt/base/config.hpp"

namespace chargpt {
namespace {

constexpr double kMaxSteps = 1e9;  // steps * windows per step fit a 64-bit integer with room to spare
constexpr double kMaxBatch = 1 << 20;

constexpr Range between(double low, double high) { return {low, high, false, false}; }
constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range above(double low) { return {.low = low, .low_open = true}; }
/// 0 or more, below 1: a fraction of which the rest must not be empty.
constexpr Range kFraction = {0, 1, false, true};

}  // namespace

bool DataConfig::crosses_documents() const {
  switch (cross_documents) {
    case CrossDocuments::yes:
      return true;
    case CrossDocuments::no:
      return false;
    case CrossDocuments::automatic:
      break;
  }
  return format == DataFormat::lines;
}

void DataConfig::describe(KeyList& keys) {
  keys.add("path", path,
           "What to train on: a file (a text, or JSONL with one document a line), a folder, a pattern such as "
           "\"books/*.txt\" or \"{a.txt,b.txt}\", or - for standard input; .gz and .zst are unpacked.");
  keys.add("val_path", val_path, "File of its own for validation; empty: val_fraction of data.path.");
  keys.add("test_path", test_path, "File of its own for the test split; empty: test_fraction of data.path.");
  keys.add(
      "format", format,
      "What a data file is: one text, a document in each line, JSONL, or plain bytes; auto: jsonl for a path that ends "
      "in .jsonl, else text.");
  keys.add("field", field, "Name of the JSONL field that holds a document's text.");
  keys.add("encoding", encoding, "Encoding of the data files, as iconv names it.");
  keys.add("normalize", normalize,
           "Unicode normalisation of the text, and of prompts and texts that the model is given later.");
  keys.add("val_fraction", val_fraction, kFraction, "Part of the data kept for validation; 0: none.");
  keys.add("test_fraction", test_fraction, kFraction, "Part of the data kept for a test; 0: none.");
  keys.add(
      "split", split,
      "How the parts are cut: in file order, whole documents at random, or whole documents by a hash of each, which "
      "lasts when data is added; auto: contiguous for text and bytes, else document.");
  keys.add("split_seed", split_seed, at_least(0), "Seed by which documents are dealt to the parts.");
  keys.add("vocabulary", vocabulary,
           "Model file or run folder whose vocabulary is taken, or a text whose characters are; empty: made from the "
           "data.");
  keys.add("min_count", min_count, at_least(1),
           "Characters that are rarer than this, in the data or in the text that data.vocabulary names, become one "
           "unknown mark; 1: none does.");
  keys.add("max_vocabulary", max_vocabulary, between(0, 0x110000),
           "Most different characters kept, the most frequent ones; others become the unknown mark; 0: all are kept.");
  keys.add("windows", windows, "Training windows: drawn at random, or each once an epoch in a shuffled order.");
  keys.add("stride", stride, between(1, kMaxSteps), "Characters from the start of one training window to the next.");
  keys.add("cross_documents", cross_documents,
           "Whether windows may reach from one document into the next; auto: those of lines do, others do not.");
  keys.add("cache", cache,
           "Where the ids of a text are kept once it is prepared: a folder; auto: those of files of 16 MiB or more in "
           "chargpt/texts in the user's cache; off: in memory alone.");
}

void ModelConfig::describe(KeyList& keys) {
  keys.add("layers", layers, between(1, 1024), "Transformer blocks.");
  keys.add("heads", heads, between(1, 1024), "Attention heads in a block; the width must be a multiple of it.");
  keys.add("width", width, between(1, 65536), "Numbers that represent a character inside the network.");
  keys.add("context", context, between(1, 1 << 14), "Characters that the model sees at once.");
  keys.add("dropout", dropout, kFraction, "Probability of dropping a number while training; 0: no dropout.");
  keys.add("embedding_dropout", embedding_dropout, "Whether model.dropout applies to the sum of the embeddings too.");
  keys.add("tied_head", tied_head,
           "Whether the head's matrix is token_emb's, as in GPT-2; goes with model.initialization gpt2.");
  keys.add("bias", bias, "Whether Linear layers (other than key, query, value) and LayerNorms have biases.");
  keys.add("initialization", initialization,
           "How weights begin: PyTorch's defaults, or GPT-2's normal of 0.02, less where a residual branch ends.");
  keys.add("attention", attention,
           "How the network is computed; all ways give the same numbers, auto takes native on a CPU, else fused.");
}

void TrainConfig::describe(KeyList& keys) {
  keys.add("steps", steps, between(0, kMaxSteps),
           "Optimizer steps to train for; 0: train.epochs or train.characters says how long.");
  keys.add("epochs", epochs, between(0, 1e6), "Passes over the training windows; 0: another key says how long.");
  keys.add("characters", characters, between(0, 1e15),
           "Characters to train on, each counted as often as it is seen; 0: another key says how long.");
  keys.add("target_loss", target_loss, at_least(0),
           "Ends the run at a validation loss, in nats per character, of this or less; 0: none.");
  keys.add("patience", patience, between(0, kMaxSteps),
           "Ends the run after this many evaluations in a row without a new best one; 0: never.");
  keys.add("batch", batch, between(1, kMaxBatch), "Windows for one optimizer step.");
  keys.add(
      "micro_batch", micro_batch, between(0, kMaxBatch),
      "Windows in one pass, to save memory without changing the result; 0: the whole batch; auto: as many as fit into "
      "memory, settled once.");
  keys.add("label_smoothing", label_smoothing, kFraction,
           "Part of each target's probability that is spread over all characters in the training loss; 0: none.");
  keys.add("ema", ema, kFraction,
           "Decay of an exponential moving average of the weights, which is then evaluated and sampled; 0: none.");
  keys.add("eval_first", eval_first, "Whether to evaluate before the first step too.");
  keys.add("eval_every", eval_every, between(0, kMaxSteps),
           "Steps between evaluations, or e.g. \"1 epoch\", \"10 minutes\"; 0: only at the end.");
  keys.add("save_every", save_every, between(0, kMaxSteps),
           "Steps between checkpoints, or e.g. \"1 epoch\", \"10 minutes\"; 0: only at evaluations that are the best "
           "so far, and at the "
           "end.");
  keys.add("keep", keep, between(1, 1e6), "Newest checkpoints kept besides the best one.");
  keys.add("log_every", log_every, between(1, kMaxSteps), "Steps between progress lines where stderr is no terminal.");
  keys.add("sample_every", sample_every, between(0, kMaxSteps),
           "Steps between samples shown while training, or e.g. \"1 epoch\", \"10 minutes\"; 0: none.");
  keys.add("sample_prompts", sample_prompts,
           "Texts that samples while training continue, one sample each; empty: sample.prompt alone.");
  keys.add("on_nonfinite", on_nonfinite,
           "At a loss or gradient that is not finite: stop the run (exit code 76), or skip the step's update.");
}

void EvalConfig::describe(KeyList& keys) {
  keys.add("mode", mode,
           "Windows that are scored: side by side (or those of eval.stride), a sliding one, or some at random.");
  keys.add("stride", stride, between(0, kMaxSteps),
           "Characters from one scored window to the next; 0: the context, for sliding half of it.");
  keys.add("windows", windows, between(1, kMaxSteps), "Windows that eval.mode random draws.");
  keys.add("unknown", unknown,
           "What to do with characters that the model does not know: refuse, leave out, or charge eval.unknown_nats.");
  keys.add("unknown_nats", unknown_nats, at_least(0), "What eval.unknown charge counts for a character.");
  keys.add("batch", batch, between(1, kMaxBatch),
           "Windows scored in one pass; changes speed and memory, not the result.");
}

void OptimizerConfig::describe(KeyList& keys) {
  keys.add("name", name, "How weights are updated: AdamW, or stochastic gradient descent.");
  keys.add("learning_rate", learning_rate, above(0), "Learning rate after warm-up.");
  keys.add("betas", betas, kFraction, "AdamW's two decay rates, of the mean and of the mean square of the gradient.");
  keys.add("epsilon", epsilon, above(0), "AdamW's addition to the denominator.");
  keys.add("momentum", momentum, kFraction, "SGD's momentum; 0: none.");
  keys.add("weight_decay", weight_decay, at_least(0),
           "Weight decay: decoupled for AdamW, added to the gradient for SGD; 0: none.");
  keys.add("decay", decay, "What decays: all parameters, or only matrices (no biases, no LayerNorm).");
  keys.add("clip", clip, at_least(0), "Largest global gradient norm; 0: no clipping.");
}

void ScheduleConfig::describe(KeyList& keys) {
  keys.add("name", name, "Course of the learning rate after warm-up; wsd: stable, then a decay.");
  keys.add("warmup", warmup, between(0, kMaxSteps),
           "Steps over which the learning rate rises from 0, or per cent of the run (\"5 %\"); 0: none.");
  keys.add("min_learning_rate", min_learning_rate, at_least(0),
           "Learning rate below which no schedule falls after warm-up, and at which linear, cosine and wsd end.");
  keys.add("decay", decay, between(0, kMaxSteps),
           "Of wsd: steps, or per cent of the run, before its end at which the decay begins.");
  keys.add("step_size", step_size, between(0, kMaxSteps),
           "Of step: steps, or per cent of the run, after which the learning rate is multiplied by gamma.");
  keys.add("gamma", gamma, {0, 1, true, false}, "Of step: factor from one learning rate to the next.");
}

void RunConfig::describe(KeyList& keys) {
  keys.add("seed", seed, at_least(0), "Seed of the initial weights, the data order and dropout.");
  keys.add("device", device, "Where to compute: auto, cpu, cuda or cuda:N.");
  keys.add("precision", precision,
           "Numbers of the matrix products: 32-bit floats, or bf16 operands with 32-bit sums where the CPU has them.");
  keys.add("threads", threads, between(0, 4096), "CPU threads; 0: as many as the process may use.");
  keys.add(
      "pin", pin,
      "Whether each thread is bound to a core of its own; two runs that pin and may use the same cores meet there.");
  keys.add(
      "stop_signals", stop_signals,
      "Signals at which a run saves and stops: names separated by commas, of INT, TERM, HUP, QUIT, USR1, USR2, XCPU.");
  keys.add("tf32", tf32, "Matrix products on CUDA in TensorFloat-32: faster, with 10 bits of mantissa for 23.");
  keys.add("tensorboard", tensorboard, "Whether to write event files for TensorBoard while training.");
}

void SampleConfig::describe(KeyList& keys) {
  keys.add("prompt", prompt, "Text that a sample continues.");
  keys.add("unknown", unknown,
           "What to do with characters of the prompt that the model does not know: error, skip, or replace=X.");
  keys.add("length", length, between(1, kMaxSteps), "Characters to write at most.");
  keys.add("until_end_mark", until_end_mark,
           "Write until the end mark, however long that takes; for models of documents. sample.length does not count.");
  keys.add("stop", stop, "Texts at which a sample ends; the text itself is not written.");
  keys.add("samples", samples, between(1, kMaxSteps), "Number of samples; sample i uses sample.seed + i.");
  keys.add("ban", ban, "Characters that are never written.");
  keys.add("allow", allow, "The only characters that are written; empty: all.");
  keys.add("repetition_penalty", repetition_penalty, between(0.01, 100),
           "Divides positive logits of recent characters, multiplies negative ones; 1: none.");
  keys.add("presence_penalty", presence_penalty, between(-100, 100),
           "Taken from the logit of each recent character; 0: none.");
  keys.add("frequency_penalty", frequency_penalty, between(-100, 100),
           "Taken from the logit of a character for each time that it is recent; 0: none.");
  keys.add("penalty_window", penalty_window, between(1, 1 << 20), "Last characters that count as recent.");
  keys.add("temperature", temperature, at_least(0), "Divides the logits; 0: always the likeliest character.");
  keys.add("top_k", top_k, at_least(0), "Draw from this many likeliest characters; 0: from all.");
  keys.add("top_p", top_p, {0, 1, true, false},
           "Draw from the likeliest characters that together have this probability; 1: from all.");
  keys.add("min_p", min_p, between(0, 1),
           "Draw from characters at least this many times as likely as the likeliest; 0: from all.");
  keys.add("typical", typical, {0, 1, true, false},
           "Draw from the characters of the most typical surprise that together have this probability; 1: from all.");
  keys.add("seed", seed, at_least(0), "Seed of the first sample.");
  keys.add("exact", exact,
           "Behind the context, move the window by one character at a time (slow), not by half a context.");
}

KeyList describe(Config& config) {
  KeyList keys;
  keys.section("data");
  config.data.describe(keys);
  keys.section("model");
  config.model.describe(keys);
  keys.section("train");
  config.train.describe(keys);
  keys.section("eval");
  config.eval.describe(keys);
  keys.section("optimizer");
  config.optimizer.describe(keys);
  keys.section("schedule");
  config.schedule.describe(keys);
  keys.section("run");
  config.run.describe(keys);
  keys.section("sample");
  config.sample.describe(keys);
  return keys;
}

}  // namespace chargpt
