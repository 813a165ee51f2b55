#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "chargpt/base/json.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/random.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/model_logits.hpp"
#include "chargpt/engine/trainer.hpp"
#include "chargpt/kernels/decoder.hpp"
#include "chargpt/kernels/fma_peak.hpp"
#include "chargpt/kernels/instruction_set.hpp"
#include "chargpt/sampling/sample_writer.hpp"

namespace chargpt {
namespace {

constexpr double kDefaultSeconds = 3.0;

/// Speed does not depend on the text: this one is random.
Corpus random_corpus(const Config& config, std::int64_t vocabulary) {
  std::set<char32_t> code_points;
  for (char32_t c = U'!'; c < U'!' + static_cast<char32_t>(vocabulary); ++c) code_points.insert(c);
  const std::int64_t size = 4 * config.train.batch + config.model.context + 1;
  std::vector<std::int32_t> ids;
  for (std::int64_t i = 0; i < size; ++i) {
    ids.push_back(static_cast<std::int32_t>(random_below(1, Purpose::data_order, 0, static_cast<std::uint64_t>(i),
                                                         static_cast<std::uint64_t>(vocabulary))));
  }
  return {Tokenizer(code_points, false), Split(std::move(ids), {size}), {}, {}, {}};
}

/// Calls `work` for about `seconds`, at least twice, after one call to warm up. Returns the seconds of each call,
/// sorted.
template <class Work>
std::vector<double> call_times(double seconds, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  work();
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 2 || since(start) < seconds) {
    const auto call = Clock::now();
    work();
    times.push_back(since(call));
  }
  std::sort(times.begin(), times.end());
  return times;
}

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

/// A matrix product of the model: (M, K) x (K, N), `times` a pass.
struct Product {
  std::int64_t m, n, k, times;
  double flops() const { return 2.0 * static_cast<double>(m * n * k * times); }
};

std::array<Product, 5> products(const Config& config, std::int64_t vocabulary) {
  const std::int64_t M = config.train.windows_per_pass() * config.model.context, C = config.model.width;
  const std::int64_t L = config.model.layers;
  return {{{M, 3 * C, C, L}, {M, C, C, L}, {M, 4 * C, C, L}, {M, C, 4 * C, L}, {M, vocabulary, C, 1}}};
}

/// Arithmetic of one optimizer step: the products and the causal attention, forward and twice that backward.
double step_flops(const Config& config, std::int64_t vocabulary) {
  double flops = 0.0;
  for (const Product& product : products(config, vocabulary)) flops += product.flops();
  const auto T = static_cast<double>(config.model.context);
  const double rows = static_cast<double>(config.train.windows_per_pass()) * T;
  flops += 4.0 * rows * (T + 1) / 2 * static_cast<double>(config.model.width * config.model.layers);
  return 3.0 * flops * static_cast<double>(config.train.batch) / static_cast<double>(config.train.windows_per_pass());
}

/// LibTorch's own speed on the model's products, in floating-point operations a second.
double product_speed(const Config& config, std::int64_t vocabulary, torch::Device device, double seconds) {
  const torch::NoGradGuard no_grad;
  double flops = 0.0, time = 0.0;
  for (const Product& product : products(config, vocabulary)) {
    const auto options = torch::TensorOptions(torch::kFloat).device(device);
    const torch::Tensor a = torch::rand({product.m, product.k}, options),
                        b = torch::rand({product.n, product.k}, options);
    torch::Tensor c = torch::empty({product.m, product.n}, options);
    const double once = median(call_times(seconds / 5, [&] { at::mm_out(c, a, b.t()); }));
    flops += product.flops();
    time += once * static_cast<double>(product.times);
  }
  return flops / time;
}

/// What the threads can do at all, in floating-point operations a second: the best of many short tries.
double fma_peak(int threads, double seconds) {
  constexpr std::int64_t kRounds = 1'000'000;  // some milliseconds: long beside waking the threads
  ThreadPool pool(threads);
  std::vector<double> operations(static_cast<std::size_t>(threads));
  const auto times = call_times(seconds, [&] {
    pool.run(threads,
             [&](std::int64_t i, int) { operations[static_cast<std::size_t>(i)] = fused_multiply_adds(kRounds); });
  });
  return std::accumulate(operations.begin(), operations.end(), 0.0) / times.front();
}

void measure_training(Trainer& trainer, torch::Device device, double seconds, const std::function<bool()>& stopped,
                      Json& result) {
  const Config& config = trainer.config();
  const std::int64_t vocabulary = trainer.corpus().tokenizer.size();
  const double step_seconds = median(call_times(seconds, [&] { trainer.step(stopped); }));
  const double speed = step_flops(config, vocabulary) / step_seconds;
  result["training_chars_per_second"] = static_cast<double>(config.train.batch * config.model.context) / step_seconds;
  result["step_seconds"] = step_seconds;
  result["peak_rss_mib"] = static_cast<double>(peak_resident_memory()) / (1 << 20);
  result["training_gflops"] = speed / 1e9;
  const double products = product_speed(config, vocabulary, device, seconds);
  result["matrix_product_gflops"] = products / 1e9;
  const bool fp32 = config.run.precision == Precision::fp32;  // with bf16 products, both ceilings are another kind's
  result[fp32 ? "share_of_matrix_products" : "ratio_to_fp32_matrix_products"] = speed / products;
  if (!device.is_cpu()) return;
  const double peak = fma_peak(at::get_num_threads(), seconds / 5);
  result["fma_peak_gflops"] = peak / 1e9;
  result[fp32 ? "share_of_fma_peak" : "ratio_to_fp32_fma_peak"] = speed / peak;
}

/// All samples, each of the config's length, after one character.
void measure_sampling(Trainer& trainer, double seconds, const std::function<bool()>& stopped, Json& result) {
  const Config& config = trainer.config();
  const Tokenizer& tokenizer = trainer.corpus().tokenizer;
  SampleConfig settings = config.sample;
  settings.prompt = tokenizer.symbol(0);
  settings.stop.clear();  // the characters that a config names are not those of this text
  for (std::string* named : {&settings.ban, &settings.allow}) named->clear();
  settings.unknown = SampleConfig().unknown;
  SampledModel model{tokenizer, config.model.context, model_logits(trainer.passes())};
  if (trainer.passes().path() == AttentionPath::native) {
    model.together =
        Decoder::streams_together(config.model, tokenizer.size(), at::get_num_threads(), last_level_cache());
  }
  const SampleOutput output{
      .write = [](std::string_view) { return true; }, .stopped = stopped, .warn = [](const std::string&) {}};
  const double time = median(call_times(seconds, [&] { write_samples(model, {{settings, "prompt"}}, output); }));
  result["sampling_chars_per_second"] = static_cast<double>(settings.samples * settings.length) / time;
}

std::string table(const Json& result) {
  std::string lines;
  for (const auto& [key, value] : result.items()) {
    lines += fmt::format("{:<28}{}\n", key,
                         value.is_number_float() ? fmt::format("{:.4g}", value.get<double>())
                         : value.is_string()     ? value.get<std::string>()
                                                 : value.dump());
  }
  return lines;
}

}  // namespace

int bench_command(const Request& request) {
  keep_freed_memory();
  Config config = request.config;
  const double seconds = request.bench_seconds.value_or(kDefaultSeconds);
  const int threads = set_threads(config.run.threads);
  const torch::Device device = choose_device(config.run.device).device;
  if (config.train.steps == 0) config.train.steps = 1;  // the length of the run does not matter here
  config.train.epochs = 0;
  const Corpus corpus = random_corpus(config, request.bench_vocabulary);
  Trainer trainer(config, corpus, device);
  const auto stopped = [&] { return request.stop_signal->load() != 0; };

  Json result;
  result["device"] = device.str();
  result["threads"] = threads;
  result["precision"] = name(config.run.precision);
  result["instruction_set"] = kernel_instruction_set(config.run.precision);
  result["libtorch"] = TORCH_VERSION;
  result["parameters"] = trainer.model()->flat().size();
  if (request.bench_part != BenchPart::sampling) measure_training(trainer, device, seconds, stopped, result);
  if (request.bench_part != BenchPart::training) measure_sampling(trainer, seconds, stopped, result);
  if (stopped()) return 128 + request.stop_signal->load();
  Json document = {{"v", 1}};
  document.update(result);
  write_output(request.json ? to_json_line(document) + "\n" : table(result));
  return 0;
}

}  // namespace chargpt
