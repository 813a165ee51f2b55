#include "chargpt/app/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "chargpt/app/arguments.hpp"
#include "chargpt/app/command_flags.hpp"
#include "chargpt/app/completions.hpp"
#include "chargpt/base/nearest.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/version.hpp"

namespace chargpt {
namespace {

/// A command of the program. `parent` is a command that only groups others.
struct CommandRow {
  const char* parent;
  const char* name;
  const char* help;
  void (*add_flags)(CLI::App&, Arguments&);
  int (*run)(const Arguments&);
};

constexpr std::array kCommands = {
    CommandRow{"", "train", "Train a model; writes a run folder", add_train, run_train},
    CommandRow{"", "sample", "Write text with a trained model", add_sample, run_sample},
    CommandRow{"", "eval", "Score a text exactly", add_eval, run_eval},
    CommandRow{"", "sweep", "Train many variants of a config, and tabulate them", add_sweep, run_sweep},
    CommandRow{"sweep", "table", "The results of a sweep", add_sweep_table, run_sweep_table},
    CommandRow{"", "inspect", "What a run, checkpoint or model file is, and whether it is sound", add_inspect,
               run_inspect},
    CommandRow{"", "bench", "Speed of training and sampling beside the machine's matrix products", add_bench,
               run_bench},
    CommandRow{"", "explain", "What happens inside a model, on a text of yours", add_explain, run_explain},
    CommandRow{"", "doctor", "What this machine and build can do, and why not", add_doctor, run_doctor},
    CommandRow{"", "data", "Look at texts and check them", nullptr, nullptr},
    CommandRow{"data", "stats", "What a text is made of: characters, lines, scripts, what looks wrong", add_data,
               run_data_stats},
    CommandRow{"data", "prepare", "Prepares a text for training now, and says where its ids are kept", add_data,
               run_data_prepare},
    CommandRow{"data", "check", "Whether a text can be read, and whether its parts have anything in common", add_data,
               run_data_check},
    CommandRow{"", "metrics", "Look at the course of runs", nullptr, nullptr},
    CommandRow{"metrics", "plot", "Loss, validation and learning rate in the terminal, or as SVG", add_metrics_plot,
               run_metrics_plot},
    CommandRow{"metrics", "export", "A run's metrics as CSV or for TensorBoard", add_metrics_export,
               run_metrics_export},
    CommandRow{"metrics", "report", "One HTML page about one run or many", add_metrics_report, run_metrics_report},
    CommandRow{"", "completions", "A script that completes commands, flags and keys in your shell", add_completions,
               run_completions},
    CommandRow{"", "config", "Look at configs and check them", nullptr, nullptr},
    CommandRow{"config", "show", "Every key with its value and where it came from", add_common, run_config_show},
    CommandRow{"config", "check", "Check a config without running it", add_common, run_config_check},
    CommandRow{"config", "diff", "The keys in which two configs differ", add_diff, run_config_diff},
    CommandRow{"config", "schema", "The JSON schema of a config, for editors", add_common, run_config_schema},
    CommandRow{"config", "init", "A config with every key at its default", add_common, run_config_init},
};

/// What flags whose values name something call these values in --help.
constexpr std::array<std::string_view, 6> kNames = {"DIR", "auto|DIR", "FILE", "PATH", "RUN", "WHICH"};

/// An empty name is most often that of a variable which a script has not set. It must not pass for a flag that was not
/// given: a training without the config that was meant, a sample of another run.
void refuse_empty_names(CLI::App& command) {
  const auto check = [](const std::string& value) -> std::string { return value.empty() ? "got an empty name" : ""; };
  for (CLI::Option* option : command.get_options()) {
    const std::string kind = option->get_type_name();
    if (std::find(kNames.begin(), kNames.end(), kind) != kNames.end()) option->check(check);
  }
}

std::vector<std::string> known_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (const CLI::App* child : command.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(child->get_name());
  return words;
}

/// The words that lead to a command, which it ends with.
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

/// "-seed" and "--sed" are both meant as "--seed".
std::string suggestion(const std::string& word, const CLI::App& command) {
  const auto dashes = word.find_first_not_of('-');
  const bool flag = dashes != 0 && dashes != std::string::npos;
  const std::string near = nearest(flag ? "--" + word.substr(dashes) : word, known_words(command));
  return near.empty() ? fmt::format("see {} --help", full_name(command)) : fmt::format("did you mean {}?", near);
}

/// The innermost command that was named.
const CLI::App& named_command(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

int report_parse_error(const CLI::App& program, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const CLI::App& command = named_command(program);
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto unknown = program.remaining(true);
    const std::string word = unknown.empty() ? (words.empty() ? "" : words.front()) : unknown.front();
    message = fmt::format("unknown argument {}; {}", word, suggestion(word, command));
  }
  write_message(fmt::format("error: {}\n", message));
  return static_cast<int>(ExitCode::usage);
}

/// Help of the innermost command that was named, with the words that lead to it.
std::string help_text(const CLI::App& program) {
  const CLI::App& command = named_command(program);
  const CLI::App* parent = command.get_parent();
  return command.help(parent == nullptr ? "" : full_name(*parent));
}

struct Program {
  CLI::App app{"Trains, samples and scores character-level GPTs.", "chargpt"};
  Arguments arguments;
  int (*run)(const Arguments&) = nullptr;

  Program() {
    app.set_version_flag("--version", std::string(version()));
    app.require_subcommand(0, 1);
    for (const CommandRow& row : kCommands) {
      CLI::App* parent = *row.parent == '\0' ? &app : app.get_subcommand(row.parent);
      CLI::App* command = parent->add_subcommand(row.name, row.help);
      if (row.add_flags == nullptr) {
        command->require_subcommand(0, 1);
        continue;
      }
      row.add_flags(*command, arguments);
      refuse_empty_names(*command);
      command->callback([this, &row, command] {
        if (command->get_subcommands().empty()) run = row.run;  // CLI11 asks the innermost command first
      });
    }
  }
};

}  // namespace

std::vector<std::string> complete_command_line(const std::vector<std::string>& words) {
  return completions(Program().app, words);
}

int run_command_line(int argc, const char* const* argv) {
  Program program;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    program.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the words last first
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_text(program.app));
    return 0;
  } catch (const CLI::CallForVersion&) {
    fmt::print("chargpt {}\n", version());
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_parse_error(program.app, error, words);
  }
  if (program.run != nullptr) return program.run(program.arguments);
  write_message(help_text(program.app));
  return static_cast<int>(ExitCode::usage);
}

}  // namespace chargpt
