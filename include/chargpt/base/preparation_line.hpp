#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "chargpt/base/corpus.hpp"

namespace chargpt {

/// How a preparation goes, on one line: "preparing d.txt: 350 of 2000 MB (17%), 160 MB/s, 0:10 left"; MB of all passes.
/// verb: what is done with the text.
std::string preparation_line(const PreparationState& state, double seconds, std::string_view verb = "preparing");

/// Shows on stderr how a preparation goes, once it has taken half a second: one line rewritten in place on a terminal,
/// else a plain line every ten seconds. The line ends with this object.
class PreparationLine {
 public:
  /// live: stderr is a terminal that may be written to. quiet: show nothing but what is out of the ordinary.
  PreparationLine(bool live, bool quiet, std::string_view verb = "preparing")
      : live_(live), quiet_(quiet), verb_(verb) {}
  PreparationLine(const PreparationLine&) = delete;
  PreparationLine& operator=(const PreparationLine&) = delete;
  ~PreparationLine() { clear(); }

  /// What a preparation is to be told, as long as this lives.
  PreparationEvents events(std::function<bool()> stopped = {});

 private:
  using Clock = std::chrono::steady_clock;
  void show(const PreparationState& state);
  void clear();

  bool live_, quiet_;
  std::string_view verb_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_ = started_ + std::chrono::milliseconds(500);
};

}  // namespace chargpt
