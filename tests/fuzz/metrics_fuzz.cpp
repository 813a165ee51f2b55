#include "chargpt/base/line_plot.hpp"
#include "chargpt/base/metrics_csv.hpp"
#include "chargpt/base/report_data.hpp"
#include "chargpt/base/svg_plot.hpp"
#include "fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chargpt;
  return accept_or_refuse([&] {
    const std::string path = file_with(text_of(data, size));
    metrics_csv(path);
    RunHistory run;
    run.name = path;
    run.metrics = read_metrics(path);
    for (const Chart& chart : charts_of({run})) line_plot(chart, {});
    svg_plot(charts_of({run, run}));
    to_json_line(report_data({run}));
  });
}
