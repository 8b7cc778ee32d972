#include "block.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>

namespace tilery::emulator {
namespace {
using cuda::WgmmaForm;

constexpr uint32_t tokenMark =
    0x7fa;                        // the upper bits of a signalling NaN; below: 13 bits of the serial number, 7 of the register
constexpr size_t remembered = 32; // chains of sums whose tokens are known
uint32_t tokenOf(uint32_t serial, unsigned index) { return tokenMark << 20 | serial << 7 | index; }
bool isToken(uint32_t bits, unsigned index) { return bits >> 20 == tokenMark && (bits & 127) == index; }
uint32_t serialOf(uint32_t token) { return token >> 7 & 0x1fff; }

double decode(WgmmaForm::Type type, uint32_t bits) {
  auto convert = [&](const llvm::fltSemantics &semantics, unsigned width) {
    llvm::APFloat value(semantics, llvm::APInt(width, bits, false, true));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  };
  switch (type) {
  case WgmmaForm::F16:
    return convert(llvm::APFloat::IEEEhalf(), 16);
  case WgmmaForm::BF16:
    return convert(llvm::APFloat::BFloat(), 16);
  case WgmmaForm::TF32:
    return convert(llvm::APFloat::IEEEsingle(), 32);
  case WgmmaForm::E4M3:
    return convert(llvm::APFloat::Float8E4M3FN(), 8);
  case WgmmaForm::E5M2:
    return convert(llvm::APFloat::Float8E5M2(), 8);
  case WgmmaForm::S8:
    return int8_t(bits);
  case WgmmaForm::U8:
    return uint8_t(bits);
  }
  return 0;
}

double valueOf(WgmmaForm::Type type, const char *bytes) {
  static const std::vector<std::vector<double>> tables = [] { // of the types of 8 and 16 bits
    std::vector<std::vector<double>> all(WgmmaForm::U8 + 1);
    for (unsigned t = 0; t <= WgmmaForm::U8; ++t)
      for (uint32_t bits = 0, end = t <= WgmmaForm::BF16 ? 1 << 16 : 1 << 8; t != WgmmaForm::TF32 && bits < end; ++bits)
        all[t].push_back(decode(WgmmaForm::Type(t), bits));
    return all;
  }();
  uint32_t bits = 0;
  if (type == WgmmaForm::TF32) {
    std::memcpy(&bits, bytes, 4);
    return decode(type, bits & ~0x1fffu); // what the hardware reads
  }
  std::memcpy(&bits, bytes, type <= WgmmaForm::BF16 ? 2 : 1);
  return tables[type][bits];
}

/// Where element (row, k) of an operand is in shared memory, in bytes from address 0 (PTX ISA, "Asynchronous warpgroup-level matrix shared
/// memory layout").
uint32_t placeOf(uint64_t descriptor, bool transposed, unsigned row, unsigned k, unsigned elementBytes) {
  uint32_t start = (descriptor & 0x3fff) << 4, leading = (descriptor >> 16 & 0x3fff) << 4,
           stride = (descriptor >> 32 & 0x3fff) << 4;
  unsigned mode = descriptor >> 62;
  uint32_t side = mode == 0 ? 16 : 256u >> mode; // bytes of a swizzled row
  uint32_t fast = (transposed ? row : k) * elementBytes, slow = transposed ? k : row;
  uint32_t linear = start;
  if (mode == 0) {
    uint32_t blocks = fast / 16 * (transposed ? stride : leading), groups = slow / 8 * (transposed ? leading : stride);
    linear += fast % 16 + slow % 8 * 16 + blocks + groups;
  } else {
    linear += fast % side + fast / side * leading + slow % 8 * side + slow / 8 * stride;
  }
  return linear ^ (mode ? (linear >> 7 & (side / 16 - 1)) << 4 : 0);
}

/// The operand's values: A's row by row, B's column by column of k. A in registers: of thread 32 w + l the words at row 16 w + l / 4 (+ 8),
/// bytes 4 (l % 4) (+ 16).
std::vector<double> valuesOf(Thread &thread, const Product &product, bool isB) {
  const WgmmaForm &form = product.form;
  unsigned rows = isB ? form.n : 64, bytes = form.elementBytes(), depth = form.k();
  WgmmaForm::Type type = isB ? form.b : form.a;
  std::vector<double> values(rows * depth);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned k = 0; k < depth; ++k) {
      double &value = values[isB ? k * rows + row : row * depth + k];
      if (!isB && product.registersA) {
        unsigned at = k * bytes, owner = row / 16 * 32 + row % 8 * 4 + at % 16 / 4, word = row % 16 / 8 + at / 16 * 2;
        value = valueOf(type, reinterpret_cast<const char *>(&product.a[owner][word]) + at % 4);
        continue;
      }
      uint32_t address = placeOf(isB ? product.descriptorB : product.descriptorA, isB ? form.transB : form.transA, row, k, bytes);
      value = valueOf(type, thread.home->shared.at(address - firstAddress));
    }
  return values;
}

/// sums[column] += a[k] * b[k * columns + column], k after k.
__attribute__((target_clones("avx512f", "avx2", "default"))) void multiplyRow(double *sums, const double *a, const double *b,
                                                                              unsigned depth, unsigned columns) {
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned column = 0; column < columns; ++column)
      sums[column] += a[k] * b[k * columns + column];
}

/// Thread 32 w + l holds, as its sum number r, the one at row 16 w + l / 4 + 8 (r / 2 % 2), column 8 (r / 4) + 2 (l % 4) + r % 2.
void compute(Thread &thread, Product &product) {
  std::vector<double> a = valuesOf(thread, product, false), b = valuesOf(thread, product, true);
  Sums &sums = *product.sums;
  unsigned depth = product.form.k(), columns = product.form.n;
  std::vector<double> products(64 * columns);
  for (unsigned row = 0; row < 64; ++row)
    multiplyRow(&products[row * columns], &a[row * depth], b.data(), depth, columns);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned r = 0; r < sums.count; ++r) {
      unsigned row = t / 32 * 16 + t % 32 / 4 + 8 * (r / 2 % 2), column = 8 * (r / 4) + 2 * (t % 4) + r % 2;
      double sum = products[row * columns + column];
      uint32_t &bits = sums.values[t * sums.count + r];
      if (product.form.integer()) {
        bits = (product.clears ? 0 : bits) + uint32_t(int64_t(sum));
        continue;
      }
      float value;
      std::memcpy(&value, &bits, 4);
      value = float((product.clears ? 0.0 : double(value)) + sum);
      std::memcpy(&bits, &value, 4);
    }
  product.computed = true;
}

/// Notes what an operand is read from, piece by piece of 16 bytes.
/// B is read for all four warps, of A each warp's rows for itself.
void claim(Thread &thread, Product &product, bool isB) {
  const WgmmaForm &form = product.form;
  uint64_t descriptor = isB ? product.descriptorB : product.descriptorA;
  Cluster &cluster = *thread.home->cluster;
  if (descriptor >> 49 & 7)
    cluster.fail(thread, "gives a product a descriptor with a base offset, which is not emulated");
  if (!cluster.watches)
    return;
  const unsigned number = thread.number / 128;
  Warpgroup &group = thread.home->warpgroups[number];
  if (!group.agent)
    group.agent = cluster.races.newAgent([number] { return "a product of warpgroup " + std::to_string(number); });
  Viewers viewers[4];
  for (unsigned t = 0; t < 128; ++t)
    viewers[isB ? 0 : t / 32].add(thread.home->threads[128 * number + t].clock);
  bool transposed = isB ? form.transB : form.transA;
  unsigned bytes = form.elementBytes(), perPiece = 16 / bytes;
  for (unsigned row = 0; row < (isB ? form.n : 64); row += transposed ? perPiece : 1)
    for (unsigned k = 0; k < form.k(); k += transposed ? 1 : perPiece) {
      uint32_t address = placeOf(descriptor, transposed, row, k, bytes), place = emulator::placeOf(thread, address, 16).second;
      touchShared(thread, *thread.home, place, 16, {{group.agent, uint32_t(product.group + 1)}, Act::Multiplies},
                  viewers[isB ? 0 : row / 16]);
    }
}

std::shared_ptr<Sums> find(Warpgroup &group, uint32_t serial) {
  for (const std::shared_ptr<Sums> &sums : group.known)
    if (sums->serial == serial)
      return sums;
  return nullptr;
}

/// The sums that the product goes on with: those the threads' tokens stand for, or their values.
std::shared_ptr<Sums> sumsOf(Thread &thread, Warpgroup &group, WarpgroupOperation *const *all, unsigned count, bool clears) {
  Cluster &cluster = *thread.home->cluster;
  bool tokens = isToken(all[0]->sums[0], 0);
  for (unsigned t = 0; t < 128 && !clears; ++t)
    for (unsigned r = 0; r < count; ++r)
      if (isToken(all[t]->sums[r], r) != tokens || (tokens && serialOf(all[t]->sums[r]) != serialOf(all[0]->sums[0])))
        cluster.fail(thread, "starts a product on sums of which some belong to another product under way");
  if (tokens && !clears) {
    std::shared_ptr<Sums> sums = find(group, serialOf(all[0]->sums[0]));
    if (!sums || sums->count != count)
      cluster.fail(thread, "starts a product on sums that another one went on with");
    return sums;
  }
  auto sums = std::make_shared<Sums>();
  sums->count = count;
  for (unsigned t = 0; t < 128; ++t)
    sums->values.insert(sums->values.end(), all[t]->sums, all[t]->sums + count);
  group.known.push_back(sums);
  if (group.known.size() > remembered)
    group.known.pop_front();
  return sums;
}

void start(Thread &thread, Warpgroup &group, WarpgroupOperation *const *all) {
  const WarpgroupOperation &first = *all[0];
  Cluster &cluster = *thread.home->cluster;
  uint32_t bits = first.form;
  Product product;
  product.form = {bits & 511, WgmmaForm::Type(bits >> 9 & 7), WgmmaForm::Type(bits >> 12 & 7), (bits >> 15 & 1) != 0,
                  (bits >> 16 & 1) != 0};
  product.registersA = bits >> 17 & 1, product.clears = !first.scale;
  product.descriptorA = first.descriptorA, product.descriptorB = first.descriptorB;
  unsigned base = thread.number / 128 * 128, count = product.form.sums();
  product.group = thread.productGroups;
  bool ordered = true;
  for (unsigned t = 0; t < 128; ++t) {
    const WarpgroupOperation &one = *all[t];
    const Thread &other = thread.home->threads[base + t];
    if (one.form != bits || !one.scale != !first.scale || one.descriptorB != first.descriptorB ||
        other.productGroups != product.group || (!product.registersA && one.descriptorA != first.descriptorA))
      cluster.fail(other, "starts another product than the first thread of its warpgroup");
    std::copy(one.a, one.a + 4, product.a[t].begin());
    ordered &= other.fenced;
  }
  bool fresh = product.registersA || product.clears || !isToken(first.sums[0], 0);
  if (fresh && !ordered)
    cluster.fail(thread, "starts a product on registers without wgmma.fence");
  product.sums = sumsOf(thread, group, all, count, product.clears);
  product.sums->serial = group.serial++ & 0x1fff;
  ++product.sums->running;
  if (!product.registersA)
    claim(thread, product, false);
  claim(thread, product, true);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned r = 0; r < count; ++r)
      all[t]->sums[r] = tokenOf(product.sums->serial, r);
  if (cluster.timing == Timing::CopiesLate)
    compute(thread, product);
  group.running.push_back(std::move(product));
}

Warpgroup &groupOf(Thread &thread) { return thread.home->warpgroups[thread.number / 128]; }
} // namespace

void wgmmaFence(Thread *thread) { thread->fenced = true; }
void wgmmaCommit(Thread *thread) { ++thread->productGroups; }

void wgmma(Thread *thread, WarpgroupOperation *operation) {
  Warpgroup &group = groupOf(*thread);
  if (thread->number / 128 * 128 + 128 > thread->home->threads.size())
    thread->home->cluster->fail(*thread, "starts a product in a warpgroup of fewer than 128 threads");
  if (!group.meeting)
    group.meeting = std::make_shared<Meeting>();
  together(*thread, *group.meeting, thread->number % 128, 128, "a product of a warpgroup", operation,
           [&](void **operands) { start(*thread, group, reinterpret_cast<WarpgroupOperation **>(operands)); });
}

void wgmmaWait(Thread *thread, uint32_t pending, uint32_t *values, uint32_t count) {
  Warpgroup &group = groupOf(*thread);
  while (!group.running.empty() && group.running.front().group + pending < thread->productGroups) {
    Product &product = group.running.front();
    if (!product.computed)
      compute(*thread, product);
    --product.sums->running;
    group.running.pop_front();
  }
  thread->fenced = false;
  if (group.agent && thread->productGroups > pending)
    thread->clock.known =
        thread->home->cluster->races.cache.raised(thread->clock.known, {group.agent, uint32_t(thread->productGroups - pending)});
  for (uint32_t i = 0; i < count; ++i) {
    std::shared_ptr<Sums> sums = values[i] >> 20 == tokenMark ? find(group, serialOf(values[i])) : nullptr;
    if (sums && sums->running == 0) // tokens of products that others went on with, or that still run, stay
      values[i] = sums->values[thread->number % 128 * sums->count + (values[i] & 127)];
  }
}

} // namespace tilery::emulator
