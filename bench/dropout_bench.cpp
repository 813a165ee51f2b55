#include <benchmark/benchmark.h>

#include <vector>

#include "chargpt/kernels/dropout.hpp"

namespace {

// One row of a mask and its product, at the widths of the lecture's attention weights, model and feed-forward layer.
void dropout_row(benchmark::State& state) {
  const auto columns = static_cast<std::size_t>(state.range(0));
  std::vector<float> row(columns, 1.0F);
  const chargpt::DropoutMask mask{.p = 0.4, .seed = 12046};
  for (auto _ : state) {
    chargpt::dropout_row(mask, 0, columns, row.data(), row.data());
    benchmark::DoNotOptimize(row.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(dropout_row)->Arg(64)->Arg(128)->Arg(512);

}  // namespace
