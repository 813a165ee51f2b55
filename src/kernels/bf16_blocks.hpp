#pragma once

#include <cstddef>
#include <cstdint>

#include "chargpt/kernels/bf16.hpp"

namespace chargpt {

// The parts of the bf16 products that need instructions of their own. Rows of a packed left operand are filled up with
// zeros to a multiple of 32, so that whole blocks can be read.

/// Some numbers in memory: element (r, c) is data[r * step + c].
struct Numbers {
  const float* data;
  std::size_t step;
  std::size_t rows;
  std::size_t columns;
};

/// Left operand (rows, pairs) of the rows of m.
void pack_rows(const Numbers& m, std::uint32_t* left);
/// Left operand (columns, pairs) of the columns of m.
void pack_columns(const Numbers& m, std::uint32_t* left);
/// Panel (pairs, 32) of the columns of m, at most 32.
void pack_panel(const Numbers& m, std::uint32_t* panel);
/// Panel (pairs, 32) of the rows of m, at most 32.
void pack_panel_of_rows(const Numbers& m, std::uint32_t* panel);

/// result (rows x columns, at most 32 columns) += left (rows, pairs) * panel (pairs, 32).
struct Block {
  const std::uint32_t* left;
  std::size_t rows;
  std::size_t pairs;
  const std::uint32_t* panel;
  float* result;
  std::size_t step;  ///< from one row of the result to the next
  std::size_t columns;
};

/// Holds this thread's unit ready.
class Tiles {
 public:
  explicit Tiles(Bf16Unit unit);
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  void add(const Block& block) const;

 private:
  Bf16Unit unit_;
};

}  // namespace chargpt
