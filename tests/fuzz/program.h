#pragma once
// A random kernel with its data.
#include "compiler/ir/Tile.h"
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace tilery::fuzz {

struct Argument {
  mlir::Type type;           ///< scalar type, or the pointer type
  uint64_t scalar = 0;       ///< the slot of a scalar
  std::vector<uint8_t> data; ///< what a pointer points to, guard zones included
  bool written = false;
};

struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Argument> args;
  std::array<uint32_t, 3> grid{1, 1, 1};
  tile::KernelOp kernel() const { return *mlir::ModuleOp(*module).getOps<tile::KernelOp>().begin(); }
};

/// Bytes before and after each array that no program may touch; a multiple of every alignment.
constexpr size_t guardBytes = 64;

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed * 0x9E3779B97F4A7C15ull + 1) {}
  uint64_t bits() { return engine(); }
  int64_t below(int64_t n) { return int64_t(engine() % uint64_t(n)); }
  bool chance(double p) { return double(engine() >> 11) * 0x1p-53 < p; }
  template <typename T> const T &of(const std::vector<T> &choices) { return choices[below(choices.size())]; }

private:
  std::mt19937_64 engine;
};

/// Which memory and control operations a program may use: those of a language, or of all.
enum class Style { Pointers, Views, Buffers, All };

/// The same seed gives the same program.
Program generate(mlir::MLIRContext &context, uint64_t seed, Style style = Style::All);

} // namespace tilery::fuzz
