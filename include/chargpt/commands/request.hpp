#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/config.hpp"
#include "chargpt/base/model_choice.hpp"
#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {

// What the program hands to the engine library. Both are built together; the version is compared before anything else
// is read. No torch header here: app/ includes this file.

struct Corpus;

enum class Command { train, sample, eval, bench, explain, doctor };

/// Into which parts eval divides a text besides scoring it whole.
enum class PartKind { none, document, line, character_class };

/// What bench measures.
enum class BenchPart { all, training, sampling };

struct Request {
  Command command = Command::train;
  Config config;
  ModelChoice model;

  std::string run_folder;          ///< train: where to write; locked by the caller
  bool resume = false;             ///< train: continue the run in run_folder if it has a checkpoint
  std::string init;                ///< train: weights that a run which starts at step 0 begins with; empty: new ones
  bool overwrite = false;          ///< train: replace the run in run_folder
  const Corpus* corpus = nullptr;  ///< train: the config's data, where the caller has it in memory; null: it is read
  bool dry_run = false;            ///< train: say what the run would take, and write nothing
  bool check_only = false;         ///< train: with dry_run, not even say that, but find what the machine lacks
  bool allow_data_change = false;  ///< train: resume although the data is not the checkpoint's
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< train: to have saved and stopped by
  std::vector<std::string> notes;  ///< train: lines for the log, e.g. which keys a resume overrides

  std::string data_path;                           ///< eval: a text to score, or empty for `part` of the run's data
  std::string part = "val";                        ///< eval: "train", "val" or "test"
  std::string per_char;                            ///< eval: file for a line about each character, or empty
  PartKind by = PartKind::none;                    ///< eval: parts that are scored too
  bool baselines = false;                          ///< eval: score simpler models beside this one
  std::optional<ModelChoice> compare;              ///< eval: another model to compare with, character by character
  std::string text;                                ///< explain: what the model looks at
  std::string svg_folder;                          ///< explain: where to draw the attention, or empty
  std::int64_t block = 0;                          ///< explain: which block is looked into
  bool numerics = false;                           ///< doctor: check the numbers of every device too
  std::function<int(const SampledModel&)> sample;  ///< sample: what is done with the model; returns the exit code
  std::optional<double> bench_seconds;             ///< bench: time for each measurement
  BenchPart bench_part = BenchPart::all;           ///< bench: what is measured
  std::int64_t bench_vocabulary = 65;              ///< bench: number of symbols

  bool json = false;
  int verbosity = 0;                              ///< -1 quiet, 0 normal, 1 verbose
  bool color = false;                             ///< escape codes and a live line on stderr
  const std::atomic<int>* stop_signal = nullptr;  ///< number of the signal that asked for a stop, 0 while none did
};

/// The library's entry: runs a command, reports errors on stderr, and returns the exit code. Never throws.
using RunFunction = int (*)(const char* version, const Request& request);
inline constexpr const char* kRunFunctionName = "chargpt_run";

}  // namespace chargpt
