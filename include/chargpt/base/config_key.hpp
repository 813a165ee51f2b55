#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "chargpt/base/interval.hpp"
#include "chargpt/base/json.hpp"
#include "chargpt/base/part_of_run.hpp"

namespace chargpt {

/// Closed or half-open interval of a number. Infinite ends are never reachable: NaN and infinity are refused for all.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  bool contains(double value) const;
  std::string text() const;  ///< e.g. "1 to 1024", "0 or more", "above 0, below 1"
};

/// An enum seen through its names.
struct Choice {
  std::vector<std::string_view> names;
  std::function<std::string_view()> get;
  std::function<void(std::size_t)> set;  ///< by position in `names`
};

/// A whole number that the program may be asked to choose: nothing stands for "auto".
using AutoInteger = std::optional<std::int64_t>;

/// One config key, bound to the member that holds its value.
struct ConfigKey {
  using Value = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<double>*,
                             std::vector<std::string>*, Interval*, PartOfRun*, AutoInteger*, Choice>;

  std::string name;  ///< "section.key"
  Value value;
  Range range;       ///< of a number, of each number in a list, or of an interval's number
  std::string help;  ///< one sentence for --help, schema and README

  std::string_view section() const;  ///< the part of `name` before the dot
  std::string_view leaf() const;     ///< the part of `name` after the dot
  /// "truth value", "integer", "number", "text", "numbers", "texts", "interval", "steps or per cent", "integer or
  /// auto", or the names joined by " | ".
  std::string type() const;
  Json get() const;
  /// Sets from a JSON value of the right type (an integer is accepted for a number, 2.0 for an integer).
  /// `where` begins the message of an error: Error(usage) with key, what was got and what is wanted.
  void set(const Json& json, const std::string& where) const;
};

/// All values of an enum whose name(E) is a switch without default that returns an empty view past the last value.
template <class E>
std::vector<std::string_view> choice_names() {
  std::vector<std::string_view> names;
  for (int i = 0; !name(static_cast<E>(i)).empty(); ++i) names.push_back(name(static_cast<E>(i)));
  return names;
}

/// The rows of a config, in order.
class KeyList {
 public:
  void section(std::string name) { section_ = std::move(name); }

  template <class T>
  void add(const char* key, T& member, Range range, const char* help) {
    keys_.push_back({section_ + "." + key, &member, range, help});
  }
  void add(const char* key, std::string& member, const char* help) {
    keys_.push_back({section_ + "." + key, &member, {}, help});
  }
  void add(const char* key, std::vector<std::string>& member, const char* help) {
    keys_.push_back({section_ + "." + key, &member, {}, help});
  }
  void add(const char* key, bool& member, const char* help) {
    keys_.push_back({section_ + "." + key, &member, {}, help});
  }
  template <class E>
  requires std::is_enum_v<E>
  void add(const char* key, E& member, const char* help) {
    Choice choice{choice_names<E>(), [&member] { return name(member); },
                  [&member](std::size_t i) { member = static_cast<E>(i); }};
    keys_.push_back({section_ + "." + key, std::move(choice), {}, help});
  }

  const std::vector<ConfigKey>& keys() const { return keys_; }
  const ConfigKey* find(std::string_view name) const;  ///< nullptr if there is none

 private:
  std::string section_;
  std::vector<ConfigKey> keys_;
};

}  // namespace chargpt
