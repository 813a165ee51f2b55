#include "chargpt/nn/dropout.hpp"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "chargpt/base/random.hpp"

namespace chargpt {
namespace {

constexpr std::int64_t kWord = 0xFFFFFFFF;

/// Philox on int64 tensors that hold 32-bit words. A product of two words may pass 2^63, but its bits are still those
/// of the unsigned product, so that shifting and masking give both halves.
std::array<torch::Tensor, 4> philox_tensors(std::array<torch::Tensor, 4> c, std::uint64_t seed) {
  auto key = philox_key(seed);
  for (int round = 0; round < 10; ++round) {
    const torch::Tensor product0 = c[0] * std::int64_t{0xD2511F53};
    const torch::Tensor product1 = c[2] * std::int64_t{0xCD9E8D57};
    c = {(product1.bitwise_right_shift(32).bitwise_and(kWord)).bitwise_xor(c[1]).bitwise_xor(std::int64_t{key[0]}),
         product1.bitwise_and(kWord),
         (product0.bitwise_right_shift(32).bitwise_and(kWord)).bitwise_xor(c[3]).bitwise_xor(std::int64_t{key[1]}),
         product0.bitwise_and(kWord)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return c;
}

void dropout_on_cpu(const torch::Tensor& in, const torch::Tensor& out, const DropoutMask& mask, const MaskRows& rows) {
  const std::int64_t columns = in.size(-1);
  const std::int64_t grain = std::max<std::int64_t>(1, 4096 / columns);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "dropout", [&] {
    const auto* from = in.const_data_ptr<scalar_t>();
    auto* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, in.numel() / columns, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = rows.first + i / rows.inner * rows.outer_stride + i % rows.inner;
        dropout_row(mask, static_cast<std::uint32_t>(row), static_cast<std::size_t>(columns), from + i * columns,
                    to + i * columns);
      }
    });
  });
}

torch::Tensor times_mask(const torch::Tensor& x, const DropoutMask& mask, const MaskRows& rows) {
  if (!x.device().is_cpu()) {
    const std::int64_t columns = x.size(-1);
    return x * dropout_multipliers(mask, rows, x.numel() / columns, columns, x.options()).view(x.sizes());
  }
  const torch::Tensor in = x.contiguous();
  torch::Tensor out = torch::empty_like(in);
  dropout_on_cpu(in, out, mask, rows);
  return out;
}

/// The mask's numbers are all that the backward pass needs.
class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x, double p,
                               std::int64_t seed, std::int64_t step, std::int64_t site, std::int64_t first,
                               std::int64_t inner, std::int64_t outer_stride) {
    context->saved_data["p"] = p;
    context->saved_data["numbers"] = std::vector<std::int64_t>{seed, step, site, first, inner, outer_stride};
    return times_mask(x, mask_of(p, seed, step, site), {first, inner, outer_stride});
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto n = context->saved_data["numbers"].toIntVector();
    const DropoutMask mask = mask_of(context->saved_data["p"].toDouble(), n[0], n[1], n[2]);
    torch::autograd::variable_list result(8);
    result[0] = times_mask(gradients[0], mask, {n[3], n[4], n[5]});
    return result;
  }

 private:
  static DropoutMask mask_of(double p, std::int64_t seed, std::int64_t step, std::int64_t site) {
    return {p, static_cast<std::uint64_t>(seed), static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(site)};
  }
};

}  // namespace

torch::Tensor dropout(const torch::Tensor& x, const DropoutMask& mask, const MaskRows& rows) {
  if (mask.p == 0.0) return x;
  return DropoutFunction::apply(x, mask.p, static_cast<std::int64_t>(mask.seed), std::int64_t{mask.step},
                                std::int64_t{mask.site}, rows.first, rows.inner, rows.outer_stride);
}

torch::Tensor dropout_multipliers(const DropoutMask& mask, const MaskRows& rows, std::int64_t count,
                                  std::int64_t columns, const torch::TensorOptions& options) {
  const auto whole = torch::TensorOptions(torch::kInt64).device(options.device());
  const std::int64_t groups = (columns + 63) / 64;
  const torch::Tensor index = torch::arange(count, whole);
  const torch::Tensor row =
      rows.first + index.div(rows.inner, "floor") * rows.outer_stride + index.remainder(rows.inner);
  const torch::Tensor lanes = torch::arange(groups * 8, whole).expand({count, groups * 8});
  const torch::Tensor step = torch::full({1, 1}, std::int64_t{mask.step}, whole);
  const torch::Tensor purpose =
      torch::full({1, 1}, std::int64_t{static_cast<std::uint32_t>(Purpose::dropout) | mask.site << 8U}, whole);
  const auto words = philox_tensors({lanes, row.unsqueeze(1), step, purpose}, mask.seed);

  std::vector<torch::Tensor> halves;  // in the order of their columns within a group
  for (const auto& word : words) {
    halves.push_back(word.bitwise_and(0xFFFF));
    halves.push_back(word.bitwise_right_shift(16));
  }
  for (auto& half : halves) half = half.view({count, groups, 8});
  const torch::Tensor bits = torch::stack(halves, 2).view({count, groups * 64});
  const torch::Tensor kept = bits.ge(std::int64_t{mask.threshold()});
  return kept.narrow(1, 0, columns).to(options.dtype()) * static_cast<double>(mask.scale());
}

}  // namespace chargpt
