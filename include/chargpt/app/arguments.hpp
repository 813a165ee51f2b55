#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chargpt/base/config_loader.hpp"

namespace chargpt {

struct Corpus;

/// What was typed, as typed. Every flag that stands for a config key is in `overrides`.
struct Arguments {
  std::string config_file;
  std::vector<Override> overrides;
  bool quiet = false, verbose = false, json = false, no_color = false;

  std::string out;
  std::string resume;  ///< "auto" or a run folder; empty: not resumed
  std::string init;    ///< a model file; empty: new weights
  bool overwrite = false;
  bool allow_data_change = false;
  bool dry_run = false;
  bool check_only = false;  ///< train, as part of a sweep: see Request
  std::optional<double> max_seconds;

  std::string run, model, checkpoint;
  std::string weights;  ///< "ema", "raw" or empty
  std::string path;     ///< inspect: of a run, checkpoint or model file
  std::optional<std::string> prompt;
  std::string prompt_file;
  std::string prompts;  ///< sample: a JSONL file of prompts
  bool interactive = false;
  std::string engine;  ///< sample: "native", "torch" or empty
  std::string data, split;
  std::string per_char, by, compare;
  bool baselines = false;
  std::optional<std::string> text;
  std::string svg;
  std::int64_t block = 0;
  bool numerics = false;

  std::string grid;                     ///< sweep: the grid file
  std::optional<std::int64_t> workers;  ///< sweep: how many runs at once
  std::optional<std::int64_t> index;    ///< sweep: the one run to do
  bool fail_fast = false;               ///< sweep: stop at the first failure
  std::string format = "text";          ///< sweep table: text, markdown, csv or jsonl
  bool group = false;                   ///< sweep table: one row for all seeds
  std::string sort;                     ///< sweep table: a column
  bool descending = false;
  std::vector<std::string> where;  ///< sweep table: "column=value"

  std::vector<std::string> files;  ///< positional arguments
  std::optional<double> seconds;
  std::string bench_part;  ///< bench: "training", "sampling" or empty
  std::optional<std::int64_t> vocabulary;
  std::string shell;               ///< completions: whose script
  std::vector<std::string> words;  ///< completions: what to complete

  std::string csv, tensorboard;  ///< metrics export: where to
};

/// One command: how it is named, explained, parsed and run.
int run_train(const Arguments& arguments);
/// The same, with the run's data in memory; null: it is read.
int run_train_on(const Corpus* corpus, const Arguments& arguments);
int run_sample(const Arguments& arguments);
int run_eval(const Arguments& arguments);
int run_inspect(const Arguments& arguments);
int run_bench(const Arguments& arguments);
int run_explain(const Arguments& arguments);
int run_doctor(const Arguments& arguments);
int run_sweep(const Arguments& arguments);
int run_sweep_table(const Arguments& arguments);
int run_data_stats(const Arguments& arguments);
int run_data_check(const Arguments& arguments);
int run_data_prepare(const Arguments& arguments);
int run_completions(const Arguments& arguments);
int run_metrics_plot(const Arguments& arguments);
int run_metrics_export(const Arguments& arguments);
int run_metrics_report(const Arguments& arguments);
int run_config_show(const Arguments& arguments);
int run_config_check(const Arguments& arguments);
int run_config_diff(const Arguments& arguments);
int run_config_schema(const Arguments& arguments);
int run_config_init(const Arguments& arguments);

}  // namespace chargpt
