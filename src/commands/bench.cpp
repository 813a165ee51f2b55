#include <fmt/format.h>
#include <torch/torch.h>

#include <array>
#include <chrono>

#include "chargpt/base/json.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/random.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/model_logits.hpp"
#include "chargpt/engine/trainer.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kVocabulary = 65;  // speed does not depend on the text: this one is random
constexpr double kDefaultSeconds = 3.0;

Corpus random_corpus(const Config& config) {
  std::set<char32_t> code_points;
  for (char32_t c = U'!'; c < U'!' + kVocabulary; ++c) code_points.insert(c);
  Corpus corpus{Tokenizer(code_points, false), {}, {}, {}, {}};
  const std::int64_t size = 4 * config.train.batch + config.model.context + 1;
  for (std::int64_t i = 0; i < size; ++i) {
    corpus.train.ids.push_back(
        static_cast<std::int32_t>(random_below(1, Purpose::data_order, 0, static_cast<std::uint64_t>(i), kVocabulary)));
  }
  corpus.train.starts.push_back(size);
  return corpus;
}

/// Calls `work` for about `seconds`, at least twice, after one call to warm up. Returns seconds per call.
template <class Work>
double time_per_call(double seconds, const Work& work) {
  using Clock = std::chrono::steady_clock;
  work();
  const auto start = Clock::now();
  std::int64_t calls = 0;
  double passed = 0.0;
  do {
    work();
    ++calls;
    passed = std::chrono::duration<double>(Clock::now() - start).count();
  } while (calls < 2 || passed < seconds);
  return passed / static_cast<double>(calls);
}

/// A matrix product of the model: (M, K) x (K, N), `times` a pass.
struct Product {
  std::int64_t m, n, k, times;
  double flops() const { return 2.0 * static_cast<double>(m * n * k * times); }
};

std::array<Product, 5> products(const Config& config) {
  const std::int64_t M = config.train.windows_per_pass() * config.model.context, C = config.model.width;
  const std::int64_t L = config.model.layers;
  return {{{M, 3 * C, C, L}, {M, C, C, L}, {M, 4 * C, C, L}, {M, C, 4 * C, L}, {M, kVocabulary, C, 1}}};
}

/// Arithmetic of one optimizer step: the products and the causal attention, forward and twice that backward.
double step_flops(const Config& config) {
  double flops = 0.0;
  for (const Product& product : products(config)) flops += product.flops();
  const auto T = static_cast<double>(config.model.context);
  const double rows = static_cast<double>(config.train.windows_per_pass()) * T;
  flops += 4.0 * rows * (T + 1) / 2 * static_cast<double>(config.model.width * config.model.layers);
  return 3.0 * flops * static_cast<double>(config.train.batch) / static_cast<double>(config.train.windows_per_pass());
}

/// LibTorch's own speed on the model's products, in floating-point operations a second.
double product_speed(const Config& config, torch::Device device, double seconds) {
  const torch::NoGradGuard no_grad;
  double flops = 0.0, time = 0.0;
  for (const Product& product : products(config)) {
    const auto options = torch::TensorOptions(torch::kFloat).device(device);
    const torch::Tensor a = torch::rand({product.m, product.k}, options),
                        b = torch::rand({product.n, product.k}, options);
    torch::Tensor c = torch::empty({product.m, product.n}, options);
    const double once = time_per_call(seconds / 5, [&] { at::mm_out(c, a, b.t()); });
    flops += product.flops();
    time += once * static_cast<double>(product.times);
  }
  return flops / time;
}

double sampling_speed(Trainer& trainer, double seconds) {
  constexpr std::int64_t kLength = 64;
  SampleConfig settings;
  settings.length = kLength;
  const NextLogits next = model_logits(trainer.passes());
  const std::vector<std::int32_t> prompt(static_cast<std::size_t>(trainer.config().model.context), 0);
  const double time = time_per_call(seconds, [&] {
    generate(next, trainer.corpus().tokenizer, trainer.config().model.context, {{prompt, 1}}, settings,
             [](std::size_t, std::int32_t) { return true; });
  });
  return kLength / time;
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
  const Corpus corpus = random_corpus(config);
  Trainer trainer(config, corpus, device);
  const auto stopped = [&] { return request.stop_signal->load() != 0; };
  const double step_seconds = time_per_call(seconds, [&] { trainer.step(stopped); });
  const double sampling = sampling_speed(trainer, seconds);
  const double ceiling = product_speed(config, device, seconds);
  if (stopped()) return 128 + request.stop_signal->load();

  Json result;
  result["device"] = device.str();
  result["threads"] = threads;
  result["instruction_set"] = at::get_cpu_capability();
  result["parameters"] = trainer.model()->flat().size();
  result["training_chars_per_second"] = static_cast<double>(config.train.batch * config.model.context) / step_seconds;
  result["step_seconds"] = step_seconds;
  result["sampling_chars_per_second"] = sampling;
  result["training_gflops"] = step_flops(config) / step_seconds / 1e9;
  result["matrix_product_gflops"] = ceiling / 1e9;
  result["share_of_matrix_products"] = step_flops(config) / step_seconds / ceiling;
  if (request.json) return write_output(to_json_line(result) + "\n"), 0;
  std::string lines;
  for (const auto& [key, value] : result.items()) {
    lines += fmt::format("{:<28}{}\n", key,
                         value.is_number_float() ? fmt::format("{:.4g}", value.get<double>())
                         : value.is_string()     ? value.get<std::string>()
                                                 : value.dump());
  }
  write_output(lines);
  return 0;
}

}  // namespace chargpt
