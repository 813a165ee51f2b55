#include "chargpt/app/command_flags.hpp"

namespace chargpt {
namespace {

void add_runs(CLI::App& command, Arguments& arguments) {
  command.add_option("runs", arguments.files, "Run folders, or folders that hold run folders")
      ->type_name("RUN")
      ->required();
}

}  // namespace

void add_metrics_plot(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  add_runs(command, arguments);
  command.add_option("--svg", arguments.svg, "Write the curves to this file, as SVG, instead")->type_name("FILE");
}

void add_metrics_export(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  command.add_option("run", arguments.run, "Run folder")->type_name("RUN")->required();
  command.add_option("--csv", arguments.csv, "Write a table, one row a record; - for stdout")->type_name("FILE");
  command.add_option("--tensorboard", arguments.tensorboard, "Write an event file of TensorBoard into this folder")
      ->type_name("DIR");
}

void add_metrics_report(CLI::App& command, Arguments& arguments) {
  add_common(command, arguments);
  add_runs(command, arguments);
  command.add_option("-o,--out", arguments.out, "Page to write; default: report.html")->type_name("FILE");
}

}  // namespace chargpt
