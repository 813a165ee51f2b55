#include "chargpt/sampling/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "chargpt/base/error.hpp"
#include "chargpt/base/similar_characters.hpp"
#include "chargpt/base/unknown_prompt.hpp"
#include "chargpt/base/utf8.hpp"

namespace chargpt {
namespace {

std::vector<char32_t> known_characters(const Tokenizer& tokenizer) {
  std::vector<char32_t> known;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
    if (!tokenizer.is_mark(id)) known.push_back(decode_utf8(tokenizer.as_utf8(tokenizer.symbol(id)), "vocabulary")[0]);
  }
  return known;
}

/// Refuses the prompt for its character `at`.
[[noreturn]] void fail_unknown(std::u32string_view text, std::size_t at, const UnknownCharacters& unknown,
                               const Tokenizer& tokenizer, const std::string& source) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), U'\n');
  std::vector<std::string> near;
  for (const char32_t other : similar_characters(text[at], known_characters(tokenizer))) {
    near.push_back(describe_code_point(other));
  }
  throw Error(
      ExitCode::bad_data,
      fmt::format("{}: character {} at position {} (line {}) is not in the model's vocabulary of {}; {} of {} "
                  "characters are unknown: {}; {}leave them out, as sample --unknown skip does",
                  source, describe_code_point(text[at]), at, line, tokenizer.size(), unknown.count, text.size(),
                  unknown.text(), near.empty() ? "" : fmt::format("nearest known ones: {}; ", fmt::join(near, ", "))));
}

/// -1 for a rule that replaces nothing.
std::int32_t replacement_id(const UnknownPrompt& rule, const Tokenizer& tokenizer) {
  if (rule.rule != UnknownPrompt::Rule::replace) return -1;
  const std::int32_t id = tokenizer.id(rule.replacement);
  if (id >= 0) return id;
  throw Error(ExitCode::usage,
              fmt::format("--unknown replace={}: the model does not know {} either; name a character of its vocabulary",
                          encode_utf8(rule.replacement), describe_code_point(rule.replacement)));
}

void warn_unknown(const UnknownPrompt& rule, const UnknownCharacters& unknown, const std::string& source,
                  const Warn& warn) {
  if (unknown.count == 0) return;
  warn(fmt::format("{}: characters that the model does not know are {} ({} in all): {}", source,
                   rule.rule == UnknownPrompt::Rule::skip
                       ? "left out"
                       : fmt::format("replaced by {}", describe_code_point(rule.replacement)),
                   unknown.count, unknown.text()));
}

std::vector<std::int32_t> encode(std::string_view prompt, const Tokenizer& tokenizer, const UnknownPrompt& rule,
                                 const std::string& source, const Warn& warn) {
  const std::u32string text = tokenizer.characters(prompt, source);
  const std::int32_t replacement = replacement_id(rule, tokenizer);
  std::vector<std::int32_t> ids;
  UnknownCharacters unknown;
  std::size_t first_unknown = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::int32_t id = tokenizer.id(text[i]);
    if (id < 0 && unknown.count == 0) first_unknown = i;
    if (id < 0) unknown.add(text[i]);
    const std::int32_t taken = id < 0 ? replacement : id;
    if (taken >= 0) ids.push_back(taken);
  }
  if (rule.rule == UnknownPrompt::Rule::error && unknown.count > 0) {
    fail_unknown(text, first_unknown, unknown, tokenizer, source);
  }
  warn_unknown(rule, unknown, source, warn);
  if (ids.empty()) ids.push_back(start_id(tokenizer));
  return ids;
}

/// Of a character that the model can write; -1 for others, which may be its unknown mark.
std::int32_t written_id(const Tokenizer& tokenizer, char32_t character) {
  const std::int32_t id = tokenizer.id(character);
  return id >= 0 && tokenizer.is_mark(id) ? -1 : id;
}

/// Characters of a setting that the model never writes anyway are probably a mistake.
void warn_foreign(const std::string& text, const char* flag, const Tokenizer& tokenizer, const Warn& warn) {
  UnknownCharacters unknown;
  for (const char32_t character : tokenizer.characters(text, flag)) {
    if (written_id(tokenizer, character) < 0) unknown.add(character);
  }
  if (unknown.count > 0) warn(fmt::format("{} holds what the model never writes: {}", flag, unknown.text()));
}

void check_possible(const SampleConfig& settings, const Tokenizer& tokenizer) {
  if (settings.until_end_mark && !tokenizer.has_end_mark()) {
    throw Error(
        ExitCode::usage,
        "sample.until_end_mark: this model has no end mark, since it was not trained on documents; use --length");
  }
  const auto allowed = allowed_ids(settings, tokenizer);
  const auto first_character = allowed.begin() + (tokenizer.has_end_mark() && !allowed.empty() ? 1 : 0);
  if (!allowed.empty() && std::find(first_character, allowed.end(), true) == allowed.end()) {
    throw Error(ExitCode::usage, "sample.allow and sample.ban leave no character of the model's vocabulary to write");
  }
}

}  // namespace

std::int32_t start_id(const Tokenizer& tokenizer) {
  if (tokenizer.has_end_mark()) return Tokenizer::end_mark_id();
  return std::max(0, tokenizer.id(U'\n'));
}

std::vector<std::int32_t> encode_prompt(std::string_view prompt, const Tokenizer& tokenizer,
                                        const std::string& source) {
  return encode(prompt, tokenizer, {}, source, {});
}

StreamStart start_stream(const SampleConfig& settings, const Tokenizer& tokenizer, std::int64_t context,
                         const std::string& source, const Warn& warn, bool marked) {
  check_possible(settings, tokenizer);
  warn_foreign(settings.ban, "--ban", tokenizer, warn);
  warn_foreign(settings.allow, "--allow", tokenizer, warn);
  for (const std::string& stop : settings.stop) warn_foreign(stop, "--stop", tokenizer, warn);
  auto ids = encode(settings.prompt, tokenizer, parse_unknown_prompt(settings.unknown), source, warn);
  if (static_cast<std::int64_t>(ids.size()) > context) {
    warn(fmt::format("{} has {} characters; the model sees its last {}", source, ids.size(), context));
  }
  if (marked && tokenizer.has_end_mark() && ids[0] != Tokenizer::end_mark_id()) {
    ids.insert(ids.begin(), Tokenizer::end_mark_id());
  }
  return {std::move(ids), settings};
}

std::vector<bool> allowed_ids(const SampleConfig& settings, const Tokenizer& tokenizer) {
  if (settings.ban.empty() && settings.allow.empty()) return {};
  std::vector<bool> allowed(static_cast<std::size_t>(tokenizer.size()), settings.allow.empty());
  const auto mark = [&](const std::string& characters, bool value) {
    for (const char32_t character : tokenizer.characters(characters, "sample")) {
      const std::int32_t id = written_id(tokenizer, character);
      if (id >= 0) allowed[static_cast<std::size_t>(id)] = value;
    }
  };
  mark(settings.allow, true);
  mark(settings.ban, false);
  if (tokenizer.has_end_mark()) allowed[static_cast<std::size_t>(Tokenizer::end_mark_id())] = true;
  if (tokenizer.has_unknown_mark()) allowed[static_cast<std::size_t>(tokenizer.unknown_mark_id())] = false;
  return allowed;
}

}  // namespace chargpt
