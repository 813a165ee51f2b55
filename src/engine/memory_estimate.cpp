#include "chargpt/engine/memory_estimate.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <limits>

#include "chargpt/base/checkpoint_folder.hpp"
#include "chargpt/base/error.hpp"
#include "chargpt/base/memory.hpp"
#include "chargpt/base/model_size.hpp"
#include "chargpt/kernels/network.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kFloat = 4;                                            // bytes
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;  // leaves room for sums

/// So many windows at so many bytes each, or kMost: what no machine has does not overflow into what any has.
std::int64_t bytes_of(std::int64_t windows, std::int64_t each) { return windows * std::min(each, kMost / windows); }

std::int64_t mebibytes(std::int64_t bytes) { return bytes >> 20; }

bool is_native(const Config& config, c10::Device device) {
  switch (config.model.attention) {
    case AttentionPath::automatic:
      return device.is_cpu();
    case AttentionPath::native:
      return true;
    case AttentionPath::heads:
    case AttentionPath::fused:
      return false;
  }
  return false;
}

/// Numbers that the modules keep of a window for the way back, and need on it.
std::int64_t module_numbers(const Config& config, std::int64_t vocabulary, c10::Device device) {
  const ModelConfig& model = config.model;
  const std::int64_t T = model.context, C = model.width, scores = model.heads * T * T;
  const bool dropout = model.dropout > 0.0, by_head = model.attention == AttentionPath::heads;
  // By head scores and weights of attention, with dropout its mask and what it leaves as well, but no scores; fused
  // keeps none of the scores, and without dropout leaves all to a kernel.
  const std::int64_t kept_scores = by_head ? (dropout ? 3 : 2) : (dropout ? 2 : 0);
  // Results of both LayerNorms (2), q, k and v (3), what attends (2), both sums (2), before and after GELU (8); two
  // masks and what they leave (4).
  const std::int64_t block = (dropout ? 21 : 17) * T * C + kept_scores * scores;
  // On the way back of the last block: gradients (of one head at a time), and on a GPU the random numbers of a mask, as
  // 64-bit integers.
  const std::int64_t scores_back = by_head ? 3 * T * T : dropout ? (device.is_cpu() ? 3 : 12) * scores : 0;
  const std::int64_t block_back = 10 * T * C + scores_back;
  const std::int64_t head_back = (config.train.label_smoothing > 0.0 ? 5 : 3) * T * vocabulary;
  return model.layers * block + 3 * T * C + std::max(block_back, head_back);
}

/// Ids and the ids that follow them, of all windows of a pass. They count where the kernels compute, which keep the
/// activations of few windows at a time; modules keep so much of each character that its ids are nothing beside it.
std::int64_t id_bytes(const Config& config, std::int64_t windows) {
  return bytes_of(windows, 2 * static_cast<std::int64_t>(sizeof(std::int32_t)) * config.model.context);
}

/// How a pass that does not fit can be made to.
std::string advice(const Config& config, std::int64_t of_one_window, std::int64_t available) {
  const ModelConfig& model = config.model;
  if (of_one_window <= available) {
    return fmt::format(
        "set train.micro_batch=auto, which changes no result, or lower train.batch ({}) or model.context ({})",
        config.train.batch, model.context);
  }
  return fmt::format(
      "one window alone takes about {} MiB: lower model.context ({}), model.layers ({}) or model.width ({})",
      mebibytes(of_one_window), model.context, model.layers, model.width);
}

/// Of one number for each parameter: weights, gradients, the optimizer's state, the average.
std::int64_t copies_kept(const Config& config) {
  return 2 + static_cast<std::int64_t>(optimizer_state(config.optimizer).size()) + (config.train.ema > 0.0 ? 1 : 0);
}

}  // namespace

std::int64_t training_memory(const Config& config, std::int64_t vocabulary, c10::Device device, std::int64_t windows) {
  const bool native = is_native(config, device);
  std::int64_t copies = copies_kept(config);
  if (config.train.ema > 0.0) ++copies;  // a third place while the average changes places with the weights
  if (native) copies += 2;               // the weights as the products read them, forward and back
  const std::int64_t parameters = kFloat * copies * parameter_count(config.model, vocabulary);
  if (native) {
    return parameters + id_bytes(config, windows) +
           Network::training_bytes(config.model, vocabulary, at::get_num_threads(), windows);
  }
  // What the allocator cannot use again between tensors: from nothing to a third, the most with huge pages (measured).
  return parameters + bytes_of(windows, kFloat * module_numbers(config, vocabulary, device) / 3 * 4);
}

void require_room(const Config& config, std::int64_t vocabulary, std::int64_t available) {
  const std::int64_t parameters = parameter_count(config.model, vocabulary);
  const std::int64_t needed = kFloat * copies_kept(config) * parameters;
  if (needed <= available) return;
  throw Error(
      ExitCode::out_of_memory,
      fmt::format("out of memory: the {} parameters take {} MiB with their gradients and the optimizer's state, "
                  "but {} MiB are free; lower model.width ({}) or model.layers ({})",
                  parameters, mebibytes(needed), mebibytes(available), config.model.width, config.model.layers));
}

void require_room_for_pass(const Config& config, std::int64_t vocabulary, c10::Device device, std::int64_t available) {
  const std::int64_t windows = config.train.windows_per_pass();
  const std::int64_t needed = training_memory(config, vocabulary, device, windows);
  if (needed / 2 <= available) return;
  throw Error(
      ExitCode::out_of_memory,
      fmt::format("out of memory: training takes about {} MiB with {} window{} of {} characters a pass, but "
                  "{} MiB are free; {}",
                  mebibytes(needed), windows, windows == 1 ? "" : "s", config.model.context, mebibytes(available),
                  advice(config, training_memory(config, vocabulary, device, 1), available)));
}

std::int64_t free_memory(c10::Device device) {
  if (device.is_cpu()) {
    ::malloc_trim(0);
    return available_memory();
  }
  at::globalContext().lazyInitDevice(device.type());
  c10::DeviceAllocator& allocator = *c10::getDeviceAllocator(device.type());
  allocator.emptyCache();
  return static_cast<std::int64_t>(allocator.getMemoryInfo(device.index()).first);
}

std::int64_t choose_micro_batch(const Config& config, std::int64_t vocabulary, c10::Device device,
                                std::int64_t available) {
  const std::int64_t batch = config.train.batch;
  std::int64_t windows = batch;
  while (windows > 1 && training_memory(config, vocabulary, device, windows) > available / 5 * 4) {
    windows = (windows + 1) / 2;
  }
  return windows == batch ? 0 : windows;
}

}  // namespace chargpt
