#include "chargpt/base/config.hpp"

namespace chargpt {

std::string_view name(DataFormat value) {
  switch (value) {
    case DataFormat::automatic:
      return "auto";
    case DataFormat::text:
      return "text";
    case DataFormat::lines:
      return "lines";
    case DataFormat::jsonl:
      return "jsonl";
    case DataFormat::bytes:
      return "bytes";
  }
  return {};
}

std::string_view name(SplitMethod value) {
  switch (value) {
    case SplitMethod::automatic:
      return "auto";
    case SplitMethod::contiguous:
      return "contiguous";
    case SplitMethod::document:
      return "document";
    case SplitMethod::hashed:
      return "hashed";
  }
  return {};
}

std::string_view name(Normalization value) {
  switch (value) {
    case Normalization::none:
      return "none";
    case Normalization::nfc:
      return "nfc";
    case Normalization::nfkc:
      return "nfkc";
  }
  return {};
}

std::string_view name(CrossDocuments value) {
  switch (value) {
    case CrossDocuments::automatic:
      return "auto";
    case CrossDocuments::no:
      return "no";
    case CrossDocuments::yes:
      return "yes";
  }
  return {};
}

std::string_view name(WindowOrder value) {
  switch (value) {
    case WindowOrder::random:
      return "random";
    case WindowOrder::shuffled:
      return "shuffled";
  }
  return {};
}

std::string_view name(AttentionPath value) {
  switch (value) {
    case AttentionPath::automatic:
      return "auto";
    case AttentionPath::heads:
      return "heads";
    case AttentionPath::fused:
      return "fused";
    case AttentionPath::native:
      return "native";
  }
  return {};
}

std::string_view name(Initialization value) {
  switch (value) {
    case Initialization::pytorch:
      return "pytorch";
    case Initialization::gpt2:
      return "gpt2";
  }
  return {};
}

std::string_view name(EvalMode value) {
  switch (value) {
    case EvalMode::windows:
      return "windows";
    case EvalMode::sliding:
      return "sliding";
    case EvalMode::random:
      return "random";
  }
  return {};
}

std::string_view name(UnknownRule value) {
  switch (value) {
    case UnknownRule::error:
      return "error";
    case UnknownRule::skip:
      return "skip";
    case UnknownRule::charge:
      return "charge";
  }
  return {};
}

std::string_view name(Precision value) {
  switch (value) {
    case Precision::fp32:
      return "fp32";
    case Precision::bf16:
      return "bf16";
  }
  return {};
}

std::string_view name(DecayScope value) {
  switch (value) {
    case DecayScope::all:
      return "all";
    case DecayScope::matrices:
      return "matrices";
  }
  return {};
}

std::string_view name(OptimizerName value) {
  switch (value) {
    case OptimizerName::adamw:
      return "adamw";
    case OptimizerName::sgd:
      return "sgd";
  }
  return {};
}

std::string_view name(ScheduleName value) {
  switch (value) {
    case ScheduleName::constant:
      return "constant";
    case ScheduleName::linear:
      return "linear";
    case ScheduleName::cosine:
      return "cosine";
    case ScheduleName::step:
      return "step";
    case ScheduleName::inverse_sqrt:
      return "inverse_sqrt";
    case ScheduleName::wsd:
      return "wsd";
  }
  return {};
}

std::string_view name(NonFinitePolicy value) {
  switch (value) {
    case NonFinitePolicy::stop:
      return "stop";
    case NonFinitePolicy::skip:
      return "skip";
  }
  return {};
}

}  // namespace chargpt
