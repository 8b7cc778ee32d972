#pragma once
// Products of the 128 threads of a warpgroup. What a thread gets for its sums before it has waited are tokens: NaNs that say which sums they
// stand for, so that code that reads them too early computes nothing else.
#include "compiler/targets/cuda/ptx/wgmma_form.h"
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace tilery::emulator {

/// What a thread gives to a product.
struct WarpgroupOperation {
  uint32_t form; // as packForm has it
  uint32_t scale;
  uint64_t descriptorA, descriptorB;
  uint32_t a[4];      // A in registers
  uint32_t sums[128]; // also the result
};

/// `registersA`: A is in registers.
constexpr uint32_t packForm(const cuda::WgmmaForm &form, bool registersA) {
  return form.n | form.a << 9 | form.b << 12 | unsigned(form.transA) << 15 | unsigned(form.transB) << 16 |
         unsigned(registersA) << 17;
}

/// The sums of one chain of products.
struct Sums {
  uint32_t serial = 0;          // of the last product, as tokens name it
  unsigned count = 0;           // of a thread
  unsigned running = 0;         // products that are under way
  std::vector<uint32_t> values; // 128 x count
};

struct Product {
  cuda::WgmmaForm form;
  bool registersA, clears;
  uint64_t descriptorA, descriptorB, group;
  std::array<std::array<uint32_t, 4>, 128> a;
  std::shared_ptr<Sums> sums;
  bool computed = false;
};

struct Meeting;
struct Warpgroup {
  std::shared_ptr<Meeting> meeting;
  std::deque<std::shared_ptr<Sums>> known; // the newest last
  std::deque<Product> running;
  uint32_t serial = 0;
  uint32_t agent = 0; // its products; their times are groups
};

} // namespace tilery::emulator
