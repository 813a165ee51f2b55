#pragma once

#include <CLI/CLI.hpp>

#include "chargpt/app/arguments.hpp"

namespace chargpt {

// Each adds the flags of one command, which fill `arguments`; add_common: those that every command has.
void add_common(CLI::App& command, Arguments& arguments);
void add_train(CLI::App& command, Arguments& arguments);
void add_sample(CLI::App& command, Arguments& arguments);
void add_eval(CLI::App& command, Arguments& arguments);
void add_explain(CLI::App& command, Arguments& arguments);
void add_doctor(CLI::App& command, Arguments& arguments);
void add_inspect(CLI::App& command, Arguments& arguments);
void add_bench(CLI::App& command, Arguments& arguments);
void add_data(CLI::App& command, Arguments& arguments);
void add_metrics_plot(CLI::App& command, Arguments& arguments);
void add_metrics_export(CLI::App& command, Arguments& arguments);
void add_metrics_report(CLI::App& command, Arguments& arguments);
void add_completions(CLI::App& command, Arguments& arguments);
void add_sweep(CLI::App& command, Arguments& arguments);
void add_sweep_table(CLI::App& command, Arguments& arguments);
void add_diff(CLI::App& command, Arguments& arguments);

}  // namespace chargpt
