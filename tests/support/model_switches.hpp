#pragma once

#include <vector>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// A way to set the switches of the model section.
struct ModelSwitches {
  const char* name;
  void (*turn)(ModelConfig& model);
};

/// None, each alone, and combinations: what is true of a network is true with each of these.
inline const std::vector<ModelSwitches> kModelSwitches = {
    {"the lecture's", [](ModelConfig&) {}},
    {"embedding dropout", [](ModelConfig& model) { model.embedding_dropout = true; }},
    {"tied head", [](ModelConfig& model) { model.tied_head = true; }},
    {"no biases", [](ModelConfig& model) { model.bias = false; }},
    {"GPT-2's initial weights", [](ModelConfig& model) { model.initialization = Initialization::gpt2; }},
    {"tied head without biases",
     [](ModelConfig& model) {
       model.tied_head = true;
       model.bias = false;
     }},
    {"all switches",
     [](ModelConfig& model) {
       model.embedding_dropout = true;
       model.tied_head = true;
       model.bias = false;
       model.initialization = Initialization::gpt2;
     }},
};

}  // namespace chargpt
