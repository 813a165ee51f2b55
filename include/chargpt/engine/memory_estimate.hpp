#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "chargpt/base/config.hpp"

namespace chargpt {

/// Bytes that training takes beside the program and its text: weights, gradients, the optimizer's state, the average of
/// the weights, and the ids and activations of a pass of `windows` windows. An estimate from above; on a GPU, of its
/// memory.
std::int64_t training_memory(const Config& config, std::int64_t vocabulary, c10::Device device, std::int64_t windows);

/// Error(out_of_memory) for a model that can't be trained within `available` bytes whatever the pass: where the system
/// promises more memory than it has, it would be killed, and not be told.
void require_room(const Config& config, std::int64_t vocabulary, std::int64_t available);

/// Error(out_of_memory) for passes of train.windows_per_pass() that take more than twice the `available` bytes, which
/// the system would end with a kill. An estimate can be a quarter off, and other programs come and go: what is nearer
/// to `available` is for the caller to warn of.
void require_room_for_pass(const Config& config, std::int64_t vocabulary, c10::Device device, std::int64_t available);

/// The bytes of `device` that are free for this process, what earlier runs in it have freed included.
std::int64_t free_memory(c10::Device device);

/// What train.micro_batch "auto" becomes: 0, the whole batch, if that fits into `available` bytes with a fifth of them
/// to spare; else the windows of a half, a quarter, ... of the batch, rounded up, or 1.
std::int64_t choose_micro_batch(const Config& config, std::int64_t vocabulary, c10::Device device,
                                std::int64_t available);

}  // namespace chargpt
