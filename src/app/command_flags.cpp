#include "chargpt/app/command_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

/// A flag that may be given several times; its key is their list.
void add_list_flag(CLI::App& command, Arguments& arguments, const ConfigKey& key, const std::string& flag) {
  const auto set = [&arguments, name = key.name, flag](const std::vector<std::string>& values) {
    for (const std::string& value : values) decode_utf8(value, flag);
    arguments.overrides.push_back({name, Json(values).dump(), flag});
  };
  command.add_option_function<std::vector<std::string>>(flag, set, fmt::format("{} [{}]", key.help, key.name))
      ->type_name("VALUE")
      ->expected(1)
      ->allow_extra_args(false)  // "[a,b]" is one text
      ->take_all();
}

/// A flag that stands for a config key: "--top-k" for "sample.top_k". Its help is the key's.
void add_key_flag(CLI::App& command, Arguments& arguments, const ConfigKey& key, const std::string& flag) {
  const auto set = [&arguments, name = key.name, flag](const std::string& value) {
    arguments.overrides.push_back({name, value, flag});
  };
  if (std::holds_alternative<std::vector<std::string>*>(key.value)) {
    return add_list_flag(command, arguments, key, flag);
  }
  if (std::holds_alternative<bool*>(key.value)) {
    command.add_flag_callback(
        flag, [set] { set("true"); }, fmt::format("{} [{}]", key.help, key.name));
    return;
  }
  const bool choice = std::holds_alternative<Choice>(key.value);
  command.add_option_function<std::string>(flag, set, fmt::format("{} [{}]", key.help, key.name))
      ->type_name(choice ? fmt::format("{}", fmt::join(std::get<Choice>(key.value).names, "|")) : "VALUE");
}

void add_key_flag(CLI::App& command, Arguments& arguments, const std::string& key, const std::string& flag) {
  Config config;
  add_key_flag(command, arguments, *describe(config).find(key), flag);
}

void add_set_flag(CLI::App& command, Arguments& arguments) {
  const auto set = [&arguments](const std::vector<std::string>& values) {
    for (const std::string& value : values) arguments.overrides.push_back(parse_override(value));
  };
  command.add_option_function<std::vector<std::string>>("--set", set, "Set a config key; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->expected(1)
      ->take_all();
}

void add_engine(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  add_key_flag(command, arguments, "run.device", "--device");
  add_key_flag(command, arguments, "run.threads", "--threads");
}

void add_model(CLI::App& command, Arguments& arguments) {
  add_engine(command, arguments);
  command.add_option("--run", arguments.run, "Run folder or checkpoint folder; default: the newest run under runs/")
      ->type_name("DIR");
  command.add_option("--model", arguments.model, "Model file (safetensors) instead of a run")->type_name("FILE");
  command
      .add_option("--checkpoint", arguments.checkpoint,
                  "best, last or a step, for eval also all; default: best, or last without a best")
      ->type_name("WHICH");
  command
      .add_option("--weights", arguments.weights,
                  "Of a checkpoint: ema, the average of the weights, or raw; default: ema where there is one")
      ->type_name("WHICH");
}

}  // namespace

void add_common(CLI::App& command, Arguments& arguments) {
  command.add_option("--config", arguments.config_file, "JSON config")->type_name("FILE");
  add_set_flag(command, arguments);
  command.add_flag("--json", arguments.json, "Write machine-readable JSON to stdout");
  command.add_flag("-q,--quiet", arguments.quiet, "Say only warnings and errors");
  command.add_flag("-v,--verbose", arguments.verbose, "Say more, with the time");
  command.add_flag("--no-color", arguments.no_color, "No escape codes on stderr, so no live line");
}

void add_train(CLI::App& command, Arguments& arguments) {
  add_engine(command, arguments);
  command.add_option("--out", arguments.out, "Run folder to write; may hold {section.key}")->type_name("DIR");
  add_key_flag(command, arguments, "data.path", "--data");
  command
      .add_option("--resume", arguments.resume,
                  "Continue the run in DIR, with its optimizer and step; auto: continue the one in --out, or start it")
      ->type_name("auto|DIR");
  command
      .add_option(
          "--init", arguments.init,
          "Start a new run, at step 0 with a fresh optimizer, from the weights of this model file (safetensors); "
          "to go on with a run, see --resume")
      ->type_name("FILE");
  command.add_flag("--overwrite", arguments.overwrite, "Replace the run in --out");
  command.add_flag("--allow-data-change", arguments.allow_data_change, "Resume although the data differs");
  command.add_flag("--dry-run", arguments.dry_run,
                   "Say what the run would take in memory, disk, steps and time; write nothing");
  command.add_option("--max-seconds", arguments.max_seconds, "Save and stop within this time; resume later")
      ->type_name("N")
      ->check(CLI::Range(1.0, 1e9));
}

void add_sweep(CLI::App& command, Arguments& arguments) {
  add_engine(command, arguments);
  add_key_flag(command, arguments, "data.path", "--data");
  command.add_option("--grid", arguments.grid, "What varies: a JSON file with grid, random, list and seeds")
      ->type_name("FILE");
  command
      .add_option("--out", arguments.out, "Folder of the sweep; run folders go into it. Given again, it goes on there")
      ->type_name("DIR");
  command.add_option("--workers", arguments.workers, "Runs at once; default: one for each processor and run.threads")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--index", arguments.index, "Do run K only, counted from 0 as --dry-run lists them (for job arrays)")
      ->type_name("K")
      ->check(CLI::Number);
  command.add_flag("--dry-run", arguments.dry_run,
                   "Check every run's config and data and list the runs; write nothing");
  command.add_flag("--fail-fast", arguments.fail_fast, "Save and stop all runs when one fails");
}

void add_sweep_table(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  command.add_option("folder", arguments.path, "Folder of a sweep")->type_name("DIR")->required();
  command.add_option("--format", arguments.format, "How rows are written; default text")
      ->type_name("text|markdown|csv|jsonl")
      ->check(CLI::IsMember({"text", "markdown", "csv", "jsonl"}));
  command.add_flag("--group", arguments.group, "One row for runs that differ in the seed: mean, deviation, interval");
  command.add_option("--sort", arguments.sort, "Column to sort by; default: the best validation loss")
      ->type_name("COLUMN");
  command.add_flag("--descending", arguments.descending, "Largest first");
  command.add_option("--where", arguments.where, "Only rows with this value in that column; may be repeated")
      ->type_name("COLUMN=VALUE")
      ->expected(1)
      ->take_all();
}

void add_sample(CLI::App& command, Arguments& arguments) {
  add_model(command, arguments);
  command.add_option("--prompt", arguments.prompt, "Text to continue, taken as it stands (\\n is two characters)")
      ->type_name("TEXT");
  command.add_option("--prompt-file", arguments.prompt_file, "File that holds the text to continue; - for stdin")
      ->type_name("FILE");
  command
      .add_option(
          "--prompts", arguments.prompts,
          "JSONL file of prompts, {\"prompt\": TEXT} a line with sample keys of its own; - for stdin; writes JSONL")
      ->type_name("FILE");
  command.add_flag("--interactive", arguments.interactive, "Continue each line that is typed; /help tells more");
  command
      .add_option("--engine", arguments.engine,
                  "native: this program's own kernels, on the CPU (default); torch: LibTorch, for --device cuda")
      ->type_name("NAME");
  Config config;
  const KeyList keys = describe(config);
  for (const ConfigKey& key : keys.keys()) {
    if (key.section() != "sample" || key.leaf() == "prompt") continue;
    std::string flag = "--" + std::string(key.leaf());
    std::replace(flag.begin(), flag.end(), '_', '-');
    add_key_flag(command, arguments, key, flag);
  }
}

void add_eval(CLI::App& command, Arguments& arguments) {
  add_model(command, arguments);
  command.add_option("--data", arguments.data, "Text or JSONL to score")->type_name("PATH");
  command.add_option("--split", arguments.split, "Part of the run's own data: train, val (default) or test")
      ->type_name("PART");
  for (const char* key : {"mode", "stride", "windows", "unknown"}) {
    add_key_flag(command, arguments, std::string("eval.") + key, std::string("--") + key);
  }
  command.add_option("--per-char", arguments.per_char, "Write a JSON line about each scored character")
      ->type_name("FILE");
  command.add_option("--by", arguments.by, "Also score each part: document, line or class (letters, digits, ...)")
      ->type_name("PARTS");
  command.add_flag("--baselines", arguments.baselines, "Also score a uniform guess, a unigram and a 5-gram model");
  command.add_option("--compare", arguments.compare, "Run folder, checkpoint folder or model file to compare with")
      ->type_name("RUN");
}

void add_explain(CLI::App& command, Arguments& arguments) {
  add_model(command, arguments);
  command.add_option("--text", arguments.text, "Text that the model looks at (its last characters, if it is too long)")
      ->type_name("TEXT");
  command.add_option("--block", arguments.block, "Block that is looked into, from 0")->type_name("N");
  command.add_option("--svg", arguments.svg, "Folder to write one picture of the attention of each head to")
      ->type_name("DIR");
}

void add_doctor(CLI::App& command, Arguments& arguments) {
  add_engine(command, arguments);
  command.add_flag("--numerics", arguments.numerics, "Also check the numbers that every device computes (seconds)");
}

void add_inspect(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  command.add_option("path,--run,--model", arguments.path, "Run folder, checkpoint folder or model file")
      ->type_name("PATH")
      ->required();
}

void add_bench(CLI::App& command, Arguments& arguments) {
  add_engine(command, arguments);
  command.add_option("--seconds", arguments.seconds, "Time for each measurement; default 3")
      ->check(CLI::Range(0.1, 600.0));
  command.add_option("--only", arguments.bench_part, "Measure one of training and sampling; default: both")
      ->type_name("PART");
  command.add_option("--vocabulary", arguments.vocabulary, "Symbols of the random text; default 65")
      ->check(CLI::Range(2, 10000));
}

void add_data(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  add_key_flag(command, arguments, "data.path", "--data");
}

void add_completions(CLI::App& command, Arguments& arguments) {
  command.add_option("shell", arguments.shell, "bash, zsh or fish")->type_name("bash|zsh|fish")->required();
  command.add_option("words", arguments.words, "Behind --: the words typed so far, for the script")->type_name("WORD");
}

void add_diff(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  command.add_option("files", arguments.files, "The two configs")->expected(2)->required();
}

}  // namespace chargpt
