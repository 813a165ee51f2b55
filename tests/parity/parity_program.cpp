// Answers the parity tests (tests/parity/*.py): reads one JSON request a line from stdin, does with chargpt's own code
// what its "op" says, writes tensors to the file "out" (safetensors), and answers with one JSON line on stdout.

#include <torch/types.h>
#include <torch/utils.h>

#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "chargpt/base/config_loader.hpp"
#include "chargpt/base/windows.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/engine/trainer.hpp"

namespace chargpt {
namespace {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

std::string dtype_name(const torch::Tensor& tensor) {
  if (tensor.scalar_type() == torch::kDouble) return "F64";
  if (tensor.scalar_type() == torch::kLong) return "I64";
  return "F32";
}

/// chargpt itself writes floats only; here a double must keep its digits.
void write_tensors(const std::string& path, const NamedTensors& tensors) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const torch::Tensor whole = tensor.detach().contiguous();
    const std::size_t begin = data.size();
    data.append(static_cast<const char*>(whole.const_data_ptr()), whole.nbytes());
    header[name] = {
        {"dtype", dtype_name(whole)}, {"shape", whole.sizes().vec()}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = to_json_line(header);
  const std::uint64_t length = text.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << text << data;
}

/// The parts of a flat buffer under their parameters' names.
void add_parts(NamedTensors& tensors, const FlatParameters& parameters, const torch::Tensor& flat,
               const std::string& prefix = "") {
  for (const auto& entry : parameters.entries()) {
    tensors.emplace_back(prefix + entry.name, flat.narrow(0, entry.offset, entry.count).view(entry.shape).clone());
  }
}

/// The request's "model" or "optimizer" object as the section of a config.
Config config_of(const Json& request, const char* section) {
  Json sections = Json::object();
  sections[section] = request.at(section);
  return config_from_json(sections, "request");
}

DropoutState dropout_of(const Json& request) {
  return {config_of(request, "model").model.dropout, request.at("seed").get<std::uint64_t>(),
          request.at("step").get<std::int64_t>(), request.at("first_window").get<std::int64_t>()};
}

/// Copies a file's tensors into one of the flat buffers.
void fill(const FlatParameters& parameters, const torch::Tensor& flat, const std::string& path) {
  const torch::Tensor values = torch::empty({parameters.size()});
  copy_parameters(SafetensorsFile(path), parameters.layout(), "", numbers(values));
  const torch::NoGradGuard no_grad;
  flat.copy_(values);
}

CharGPT model_of(const Json& request, const torch::TensorOptions& options = torch::kFloat) {
  CharGPT model(config_of(request, "model").model, request.at("vocabulary").get<std::int64_t>(), options);
  fill(model->flat(), model->flat().values(), request.at("weights").get<std::string>());
  return model;
}

/// The request's windows; its ids have one position more than goes in.
TokenBatch batch_of(const Json& request) {
  TokenBatch batch;
  for (const auto& row : request.at("ids").get<std::vector<std::vector<std::int32_t>>>()) {
    ++batch.windows;
    batch.length = static_cast<std::int64_t>(row.size()) - 1;
    batch.inputs.insert(batch.inputs.end(), row.begin(), row.end() - 1);
    batch.targets.insert(batch.targets.end(), row.begin() + 1, row.end());
  }
  return batch;
}

/// Weights as a seed initialises them.
NamedTensors weights(const Json& request) {
  torch::manual_seed(request.at("seed").get<std::uint64_t>());
  CharGPT model(config_of(request, "model").model, request.at("vocabulary").get<std::int64_t>());
  NamedTensors tensors;
  add_parts(tensors, model->flat(), model->flat().values());
  return tensors;
}

/// Logits, loss and gradients for given weights and ids.
NamedTensors pass(const Json& request) {
  const bool twice_as_exact = request.at("precision") == "double";
  Passes passes(model_of(request, twice_as_exact ? torch::kDouble : torch::kFloat));
  passes.read_weights(true);
  const TokenBatch batch = batch_of(request);
  const DropoutState dropout = dropout_of(request);
  const double loss = passes.accumulate_gradients(batch, dropout, 1.0, request.value("label_smoothing", 0.0));
  NamedTensors tensors = {{"logits", passes.logits(batch, dropout)}, {"loss", torch::tensor(loss, torch::kDouble)}};
  FlatParameters& flat = passes.model()->flat();
  add_parts(tensors, flat, flat.gradients(), "gradient.");
  return tensors;
}

/// Dropout multipliers of one step: for block i the tensors i.attention_weights (B, H, T, T), i.projection and
/// i.feed_forward (B, T, C), and with embedding dropout the tensor embedding (B, T, C).
NamedTensors masks(const Json& request) {
  const ModelConfig config = config_of(request, "model").model;
  const DropoutState state = dropout_of(request);
  const auto B = request.at("windows").get<std::int64_t>(), T = request.at("length").get<std::int64_t>();
  const auto H = config.heads, C = config.width;
  NamedTensors tensors;
  const auto add = [&](const DropoutMask& mask, const std::string& name, std::int64_t rows_per_window,
                       const std::vector<std::int64_t>& shape) {
    const MaskRows rows{state.first_window * rows_per_window};
    const torch::Tensor multipliers = dropout_multipliers(mask, rows, B * rows_per_window, shape.back(), torch::kFloat);
    tensors.emplace_back(name, multipliers.view(shape));
  };
  if (config.embedding_dropout) add(state.embedding_mask(), "embedding", T, {B, T, C});
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string block = std::to_string(layer) + ".";
    add(state.mask(layer, DropoutPlace::attention_weights), block + "attention_weights", H * T, {B, H, T, T});
    add(state.mask(layer, DropoutPlace::projection), block + "projection", T, {B, T, C});
    add(state.mask(layer, DropoutPlace::feed_forward), block + "feed_forward", T, {B, T, C});
  }
  return tensors;
}

/// Weights after one step of the optimizer for each file of "gradients", at the learning rate beside it.
NamedTensors optimizer_steps(const Json& request) {
  CharGPT model = model_of(request);
  FlatParameters& flat = model->flat();
  ThreadPool pool(1);
  Optimizer optimizer(flat, config_of(request, "optimizer").optimizer, pool);
  for (std::size_t i = 0; i < request.at("gradients").size(); ++i) {
    fill(flat, flat.gradients(), request.at("gradients").at(i).get<std::string>());
    optimizer.step(request.at("learning_rates").at(i).get<double>(), optimizer.gradient_norm());
  }
  NamedTensors tensors;
  add_parts(tensors, flat, flat.values());
  return tensors;
}

/// The windows that a whole training takes: (steps, batch, T + 1).
torch::Tensor batches(const Config& config, const Corpus& corpus, std::int64_t steps) {
  const std::int64_t length = config.model.context + 1;
  const WindowIndex index(corpus.train, config.model.context, config.data.stride);
  const WindowSchedule schedule(index.size(), config.data.windows, config.train.batch,
                                static_cast<std::uint64_t>(config.run.seed));
  torch::Tensor ids = torch::empty({steps, config.train.batch, length}, torch::kLong);
  auto* to = ids.data_ptr<std::int64_t>();
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const std::int64_t window : schedule.windows(step)) {
      const auto of_window = corpus.train.ids(index.offset(window), index.offset(window) + length);
      to = std::copy(of_window.begin(), of_window.end(), to);
    }
  }
  return ids;
}

/// A whole training: initial weights, batches, and the loss and gradient norm of each step.
NamedTensors training(const Json& request) {
  const Config config = config_from_json(request.at("config"), "request");
  const Corpus corpus = load_corpus(config);
  Trainer trainer(config, corpus);
  NamedTensors tensors;
  add_parts(tensors, trainer.model()->flat(), trainer.model()->flat().values(), "initial.");
  std::vector<double> losses, norms;
  while (trainer.steps_done() < trainer.total_steps()) {
    const auto report = trainer.step();
    losses.push_back(report->loss);
    norms.push_back(report->gradient_norm);
  }
  tensors.emplace_back("losses", torch::tensor(losses, torch::kDouble));
  tensors.emplace_back("gradient_norms", torch::tensor(norms, torch::kDouble));
  tensors.emplace_back("batches", batches(config, corpus, trainer.total_steps()));
  return tensors;
}

Json answer(const Json& request) {
  const std::string op = request.at("op").get<std::string>();
  if (op == "paths") return {{"paths", choice_names<AttentionPath>()}};
  const auto tensors = [&] {
    if (op == "weights") return weights(request);
    if (op == "pass") return pass(request);
    if (op == "masks") return masks(request);
    if (op == "optimizer") return optimizer_steps(request);
    if (op == "training") return training(request);
    throw std::invalid_argument("unknown op " + op);
  };
  write_tensors(request.at("out").get<std::string>(), tensors());
  return Json::object();
}

Json answer_or_error(const std::string& line) {
  try {
    return answer(Json::parse(line));
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace
}  // namespace chargpt

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << chargpt::to_json_line(chargpt::answer_or_error(line)) << std::endl;
  }
}
