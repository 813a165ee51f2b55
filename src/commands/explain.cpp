#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "chargpt/base/attention_svg.hpp"
#include "chargpt/base/file.hpp"
#include "chargpt/base/model_choice.hpp"
#include "chargpt/base/output.hpp"
#include "chargpt/base/output_file.hpp"
#include "chargpt/base/table.hpp"
#include "chargpt/base/unicode.hpp"
#include "chargpt/base/utf8.hpp"
#include "chargpt/commands/commands.hpp"
#include "chargpt/engine/device.hpp"
#include "chargpt/engine/explanation.hpp"
#include "chargpt/engine/model_file.hpp"
#include "chargpt/sampling/generate.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kMaskShown = 6;        // positions in the tables of the mask
constexpr std::int64_t kAttentionShown = 16;  // positions in the tables of attention: more do not fit a terminal
constexpr std::size_t kNextShown = 10;        // likeliest next characters

std::string label_of(const Tokenizer& tokenizer, std::int32_t id) {
  if (tokenizer.is_mark(id)) return tokenizer.symbol(id);
  return encode_utf8(visible(decode_utf8(tokenizer.as_utf8(tokenizer.symbol(id)), "vocabulary")[0]));
}

/// What is explained: a text, a model, a block in it, and what went on there.
struct Explained {
  const ModelConfig& config;
  const Tokenizer& tokenizer;
  std::string model_file;
  std::int64_t block;
  std::vector<std::int32_t> ids;
  Explanation explanation;

  std::int64_t positions() const { return static_cast<std::int64_t>(ids.size()); }
  std::string label(std::int64_t position) const {
    return label_of(tokenizer, ids[static_cast<std::size_t>(position)]);
  }
  std::string head_name(std::int64_t h) const { return fmt::format("blocks.{}.mha.heads.{}", block, h); }
};

/// The ids that the model sees of the text: its last ones, where there are too many.
std::vector<std::int32_t> ids_of_text(const Request& request, const LoadedModel& loaded) {
  auto ids = encode_prompt(request.text, loaded.tokenizer, "--text");
  const std::int64_t context = loaded.model->config().context;
  const auto size = static_cast<std::int64_t>(ids.size());
  if (size <= context) return ids;
  spdlog::warn("warning: --text has {} characters; the model sees its last {}", size, context);
  ids.erase(ids.begin(), ids.end() - context);
  return ids;
}

/// Part of a (T, T) matrix, from position `first` to `last`, with the characters beside and above it.
template <class Cell>
std::string matrix(const Explained& subject, std::int64_t first, std::int64_t last, const Cell& cell) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0].push_back("");
  for (std::int64_t j = first; j < last; ++j) rows[0].push_back(subject.label(j));
  for (std::int64_t i = first; i < last; ++i) {
    rows.push_back({subject.label(i)});
    for (std::int64_t j = first; j < last; ++j) rows.back().push_back(cell(i, j));
  }
  std::vector<bool> left(rows[0].size(), false);
  left[0] = true;
  return to_grid(rows, left);
}

/// The beginning of a (T, T) tensor.
std::string matrix(const Explained& subject, const torch::Tensor& values) {
  const auto a = values.accessor<double, 2>();
  return matrix(subject, 0, std::min(kMaskShown, subject.positions()),
                [&](std::int64_t i, std::int64_t j) { return fmt::format("{:.2f}", a[i][j]); });
}

std::string shapes_text(const Explained& subject) {
  std::vector<std::vector<std::string>> rows;
  for (const NamedShape& row : subject.explanation.shapes) {
    rows.push_back({row.name, fmt::format("({})", fmt::join(row.shape, ", "))});
  }
  return fmt::format("1. Shapes: B = 1, T = {}, C = {}, {} heads of D = {}, V = {}\n\n{}{}\n", subject.positions(),
                     subject.config.width, subject.config.heads, subject.config.head_size(), subject.tokenizer.size(),
                     to_grid(rows, {true, true}),
                     subject.config.tied_head ? "lm.weight is token_emb.weight (model.tied_head)\n" : "");
}

std::string mask_text(const Explained& subject) {
  const Explanation& e = subject.explanation;
  const std::string shown = subject.positions() > kMaskShown ? fmt::format(", its first {} positions", kMaskShown) : "";
  return fmt::format(
      "2. The mask: {}{}\n\nq @ k.T / sqrt(D)\n{}\nmasked: -inf where tril == 0, so that no character sees a later "
      "one\n{}\n"
      "softmax: the weights of each row sum to 1, and exp(-inf) is 0\n{}\n",
      subject.head_name(0), shown, matrix(subject, e.scores[0]), matrix(subject, e.masked[0]),
      matrix(subject, e.weights[0]));
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json heads_json(const Explanation& explanation) {
  Json rows = Json::array();
  for (const HeadStatistics& head : explanation.heads) {
    rows.push_back({{"head", rows.size()},
                    {"variance_of_qk", head.product_variance},
                    {"variance_scaled", head.score_variance},
                    {"largest_weight_unscaled", finite_or_null(head.largest_unscaled)},
                    {"largest_weight", finite_or_null(head.largest)}});
  }
  return rows;
}

std::string scaling_text(const Explained& subject) {
  const std::int64_t D = subject.config.head_size();
  return fmt::format(
      "3. Why 1/sqrt(D): the dot product of two independent vectors of D numbers of variance 1 has variance D = {}.\n"
      "   Divided by sqrt(D) it has variance 1 again, and softmax does not put nearly all weight on one position. In "
      "the\n"
      "   heads of blocks.{} on this text (largest weight: the mean over all positions but the first):\n\n{}\n",
      D, subject.block, to_table(heads_json(subject.explanation)));
}

std::string attention_text(const Explained& subject) {
  const std::int64_t last = subject.positions(), first = std::max<std::int64_t>(0, last - kAttentionShown);
  std::string text = fmt::format(
      "4. Attention: what each position (a row) looks at, in percent{}\n",
      first == 0 ? "" : fmt::format("; the last {} of {} positions, --svg DIR draws all", kAttentionShown, last));
  const auto weights = subject.explanation.weights.accessor<double, 3>();
  for (std::int64_t h = 0; h < subject.config.heads; ++h) {
    text +=
        fmt::format("\n{}\n{}", subject.head_name(h), matrix(subject, first, last, [&](std::int64_t i, std::int64_t j) {
                      return j > i ? "." : fmt::format("{:.0f}", 100 * weights[h][i][j]);
                    }));
  }
  return text + "\n";
}

/// Every id of the vocabulary with its probability to be next, the likeliest first.
std::vector<std::pair<std::int32_t, double>> next_characters(const Explained& subject) {
  std::vector<std::pair<std::int32_t, double>> all;
  all.reserve(static_cast<std::size_t>(subject.tokenizer.size()));
  const auto probabilities = subject.explanation.next.accessor<double, 1>();
  for (std::int32_t id = 0; id < subject.tokenizer.size(); ++id) all.emplace_back(id, probabilities[id]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return all;
}

std::string next_text(const Explained& subject) {
  const auto all = next_characters(subject);
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(kNextShown, all.size()); ++i) {
    rows.push_back({{"char", label_of(subject.tokenizer, all[i].first)}, {"probability", all[i].second}});
  }
  return fmt::format("5. The next character: softmax of the last position's logits, the {} likeliest of {}\n\n{}",
                     rows.size(), all.size(), to_table(rows));
}

/// Nested lists of a tensor's numbers; -inf becomes null.
Json nested(const torch::Tensor& tensor) {
  if (tensor.dim() == 0) return finite_or_null(tensor.item<double>());
  Json list = Json::array();
  for (const torch::Tensor& part : tensor.unbind(0)) list.push_back(nested(part));
  return list;
}

Json document(const Explained& subject) {
  const Explanation& e = subject.explanation;
  Json shapes = Json::array();
  for (const NamedShape& row : e.shapes) shapes.push_back({{"name", row.name}, {"shape", row.shape}});
  Json characters = Json::array(), next = Json::array();
  for (const std::int32_t id : subject.ids)
    characters.push_back(subject.tokenizer.as_utf8(subject.tokenizer.symbol(id)));
  for (const auto& [id, probability] : next_characters(subject)) {
    next.push_back({{"char", subject.tokenizer.as_utf8(subject.tokenizer.symbol(id))}, {"probability", probability}});
  }
  return {{"v", 1},
          {"model", subject.model_file},
          {"block", subject.block},
          {"characters", characters},
          {"shapes", shapes},
          {"scores", nested(e.scores)},
          {"masked", nested(e.masked)},
          {"weights", nested(e.weights)},
          {"heads", heads_json(e)},
          {"next", next}};
}

void write_pictures(const Explained& subject, const std::string& folder) {
  make_folders(folder);
  std::vector<std::string> labels;
  for (std::int64_t i = 0; i < subject.positions(); ++i) labels.push_back(subject.label(i));
  for (std::int64_t h = 0; h < subject.config.heads; ++h) {
    const torch::Tensor weights = subject.explanation.weights[h].contiguous();
    const std::string svg = attention_svg(
        subject.head_name(h), labels, {weights.const_data_ptr<double>(), static_cast<std::size_t>(weights.numel())});
    write_output_file(fmt::format("{}/block{}_head{}.svg", folder, subject.block, h), svg);
  }
  spdlog::info("wrote {} pictures to {}", subject.config.heads, folder);
}

}  // namespace

int explain_command(const Request& request) {
  set_threads(request.config.run.threads);
  const OpenedModel opened = open_model(request.model);
  const ChosenModel& chosen = opened.chosen;
  LoadedModel loaded = load_model(opened.file, choose_device(request.config.run.device).device, AttentionPath::heads);
  if (!loaded.verified) spdlog::warn("warning: {} carries no checksum: it could not be verified", chosen.file);
  const ModelConfig& config = loaded.model->config();
  if (request.block < 0 || request.block >= config.layers) {
    throw Error(ExitCode::usage,
                fmt::format("--block: got {}, the model has blocks 0 to {}", request.block, config.layers - 1));
  }
  const auto ids = ids_of_text(request, loaded);
  const Explained subject{
      config, loaded.tokenizer, chosen.file, request.block, ids, explain(loaded.model, ids, request.block)};
  if (!request.svg_folder.empty()) write_pictures(subject, request.svg_folder);
  write_output(request.json ? to_json_line(document(subject)) + "\n"
                            : shapes_text(subject) + mask_text(subject) + scaling_text(subject) +
                                  attention_text(subject) + next_text(subject));
  return 0;
}

}  // namespace chargpt
