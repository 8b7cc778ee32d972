// Products of a warpgroup, on both block machines: every type, both places of A, wrong uses.
#include "tests/unit/targets/cuda/hand_made.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include <random>

using namespace tilery;
using namespace tilery::test;
using cuda::WgmmaForm;

namespace {
constexpr unsigned placeA = 1024, placeB = 1024 + 16384, barrierAt = 60 << 10;

/// The bits of -2 to 2.
uint32_t bitsOf(WgmmaForm::Type type, int value) {
  static constexpr uint32_t ones[] = {0x3c00, 0x3f80, 0x3f800000, 0x38, 0x3c}, twos[] = {0x4000, 0x4000, 0x40000000, 0x40, 0x40},
                            signs[] = {0x8000, 0x8000, 0x80000000, 0x80, 0x80};
  if (type >= WgmmaForm::S8)
    return uint8_t(value);
  return (std::abs(value) == 2 ? twos[type] : value ? ones[type] : 0) | (value < 0 ? signs[type] : 0);
}

/// 64 x n sums over k of one row of 128 bytes (or, read across k, of 64 k), and what the test breaks.
struct Products {
  WgmmaForm form;
  bool registersA = false;
  enum Mistake { None, NoWait, NoFence, NoArrival, NoProxyFence, Overwrite, ReadPending, Mixed } mistake = None;

  unsigned bytes() const { return form.elementBytes(); }
  unsigned depth() const { return 128 / bytes(); }
  static layout::Layout memory(unsigned rows, unsigned depth, unsigned bytes, bool across) {
    return across ? layout::copyBoxes(depth, rows, bytes, layout::Swizzle::B128).transposed()
                  : layout::copyBoxes(rows, depth, bytes, layout::Swizzle::B128);
  }
  layout::Layout memoryA() const { return memory(64, depth(), bytes(), form.transA); }
  layout::Layout memoryB() const { return memory(form.n, depth(), bytes(), form.transB); }

  HandMade kernel() const {
    Products p = *this;
    return {[p](Code &c) {
      auto &m = c.m;
      unsigned bytesA = 8192, bytesB = p.form.n * 128;
      c.makeBarrier(barrierAt, 1);
      c.fetch(barrierAt, bytesA + bytesB, [&] {
        m.loadBytes(c.e, c.shared(placeA), c.global(0, c.i32(0)), c.i32(bytesA), c.shared(barrierAt));
        m.loadBytes(c.e, c.shared(placeB), c.global(0, c.i32(bytesA)), c.i32(bytesB), c.shared(barrierAt));
      });
      if (p.mistake != NoArrival)
        m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
      if (p.mistake == NoProxyFence)
        c.when(c.is(9), [&] { m.storeShared(c.e, c.shared(placeB + 64), c.i32(0), false); });
      m.barrier(c.e);
      p.multiply(c);
    }};
  }

private:
  void multiply(Code &c) const {
    auto &m = c.m;
    layout::MatrixDescriptor inA = *layout::matrixDescriptor(memoryA(), bytes()),
                             inB = *layout::matrixDescriptor(memoryB(), bytes());
    auto descriptor = [&](unsigned place, const layout::MatrixDescriptor &in, unsigned k) {
      llvm::Value *address = c.b.CreateLShr(c.shared(place + k * in.kStep), 4);
      return c.b.CreateOr(c.b.CreateZExt(c.b.CreateAnd(address, c.i32(0x3fff)), c.b.getInt64Ty()), c.b.getInt64(in.bits()));
    };
    llvm::Type *type = form.integer() ? static_cast<llvm::Type *>(c.b.getInt32Ty()) : c.b.getFloatTy();
    llvm::SmallVector<llvm::Value *> sums(form.sums(), llvm::Constant::getNullValue(type)), given;
    llvm::SmallVector<llvm::SmallVector<llvm::Value *>> registers;
    for (unsigned k = 0; registersA && k < depth() / form.k(); ++k)
      registers.push_back(fragment(c, k));
    for (const auto &words : registers)
      given.append(words.begin(), words.end());
    if (mistake != NoFence)
      m.wgmmaFence(c.e, {}, given);
    llvm::SmallVector<cuda::BlockMachine::WgmmaStep> steps(depth() / form.k());
    for (auto [k, step] : llvm::enumerate(steps)) {
      if (registersA)
        step.a.append(registers[k].begin(), registers[k].end());
      else
        step.a.push_back(descriptor(placeA, inA, unsigned(k)));
      step.b = descriptor(placeB, inB, unsigned(k));
    }
    if (mistake == Mixed) {
      m.wgmma(c.e, form, sums, steps[0], c.i32(0));
      sums[3] = llvm::Constant::getNullValue(type);
      m.wgmma(c.e, form, sums, llvm::ArrayRef(steps).drop_front(), c.i32(1));
    } else {
      m.wgmma(c.e, form, sums, steps, c.i32(0));
    }
    m.wgmmaCommit(c.e);
    if (mistake == Overwrite)
      m.storeShared(c.e, c.shared(placeB), c.i32(7), false);
    if (mistake != NoWait)
      m.wgmmaWait(c.e, mistake == ReadPending ? 1 : 0, sums, given);
    for (unsigned r = 0; r < sums.size(); ++r)
      c.put(c.b.CreateAdd(c.times(c.thread, form.sums()), c.i32(r)), sums[r]);
    if (mistake == NoWait)
      m.wgmmaWait(c.e, 0, {}, {});
  }

  /// A thread's part of A, read from shared memory.
  llvm::SmallVector<llvm::Value *> fragment(Code &c, unsigned k) const {
    layout::Layout places = *layout::invert(memoryA()), registers = layout::wgmmaOperandA(8 * bytes());
    llvm::SmallVector<llvm::Value *> words;
    for (unsigned word = 0; word < 4; ++word) {
      llvm::Value *bits = c.i32(0);
      for (unsigned part = 0; part < 4 / bytes(); ++part) {
        // The element of each thread is looked up in a table in the code.
        llvm::SmallVector<uint32_t> table;
        for (unsigned t = 0; t < 128; ++t) {
          auto at = registers.at(
              {{layout::Register, int64_t(word * 4 / bytes() + part)}, {layout::Lane, t % 32}, {layout::Warp, t / 32}});
          table.push_back(placeA +
                          uint32_t(places.at({{layout::dim(0), at[0]}, {layout::dim(1), at[1] + k * form.k()}})[0]) * bytes());
        }
        auto *data = llvm::ConstantDataArray::get(c.e.context(), table);
        auto *global = new llvm::GlobalVariable(c.e.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
        llvm::Value *offset = c.b.CreateLoad(c.b.getInt32Ty(), c.b.CreateGEP(data->getType(), global, {c.i32(0), c.thread}));
        llvm::Value *element = c.m.loadShared(c.e, c.b.getIntNTy(8 * bytes()), c.sharedAt(offset), false);
        bits = c.b.CreateOr(bits, c.b.CreateShl(c.b.CreateZExt(element, c.b.getInt32Ty()), 8 * bytes() * part));
      }
      words.push_back(bits);
    }
    return words;
  }
};

struct Data {
  alignas(128) char in[8192 + 256 * 128];
  std::vector<uint32_t> out;
  std::vector<int> expected; // 64 x n

  explicit Data(const Products &p) : out(128 * p.form.sums()), expected(64 * p.form.n) {
    std::mt19937 random(11);
    unsigned depth = p.depth(), n = p.form.n;
    auto fill = [&](char *to, const layout::Layout &memory, unsigned rows, WgmmaForm::Type type) {
      layout::Layout places = *layout::invert(memory);
      std::vector<int> values;
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned k = 0; k < depth; ++k) {
          int value = int(random() % 5) - (type == WgmmaForm::U8 ? 0 : 2);
          uint32_t bits = bitsOf(type, value);
          std::memcpy(to + places.at({{layout::dim(0), row}, {layout::dim(1), k}})[0] * p.bytes(), &bits, p.bytes());
          values.push_back(value);
        }
      return values;
    };
    std::vector<int> a = fill(in, p.memoryA(), 64, p.form.a), b = fill(in + 8192, p.memoryB(), n, p.form.b);
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned j = 0; j < n; ++j)
        for (unsigned k = 0; k < depth; ++k)
          expected[i * n + j] += a[i * depth + k] * b[j * depth + k];
  }
  unsigned wrong(const Products &p) const {
    layout::Layout sums = layout::wgmmaAccumulator(p.form.n);
    unsigned count = 0;
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned r = 0; r < p.form.sums(); ++r) {
        auto at = sums.at({{layout::Register, r}, {layout::Lane, t % 32}, {layout::Warp, t / 32}});
        uint32_t bits = out[t * p.form.sums() + r];
        float value;
        std::memcpy(&value, &bits, 4);
        int wanted = expected[at[0] * p.form.n + at[1]];
        count += p.form.integer() ? int32_t(bits) != wanted : !(value == float(wanted));
      }
    return count;
  }
};

Products with(Products::Mistake mistake, bool registersA = false) {
  return {{64, WgmmaForm::BF16, WgmmaForm::BF16}, registersA, mistake};
}
void expectFault(Products products, const char *fault, Timing timing = Timing::CopiesLate) {
  Data data(products);
  expectFault(products.kernel(), data.in, data.out.data(), fault, timing);
}
} // namespace

TEST(MachineProducts, EveryTypeFromSharedMemoryAndRegisters) {
  using enum WgmmaForm::Type;
  for (WgmmaForm form :
       {WgmmaForm{8, F16, F16}, WgmmaForm{64, BF16, BF16}, WgmmaForm{256, BF16, BF16}, WgmmaForm{64, F16, F16, true, true},
        WgmmaForm{128, BF16, BF16, false, true}, WgmmaForm{72, F16, F16, false, false}, WgmmaForm{40, TF32, TF32},
        WgmmaForm{16, E4M3, E4M3}, WgmmaForm{32, E4M3, E5M2}, WgmmaForm{96, E5M2, E5M2}, WgmmaForm{24, S8, S8},
        WgmmaForm{80, U8, S8}, WgmmaForm{8, U8, U8}})
    for (bool registersA : {false, true}) {
      if (registersA && form.transA)
        continue;
      Products products{form, registersA};
      Data data(products);
      std::string shape = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(form.n) + "k" + std::to_string(form.k());
      std::string types =
          std::string(form.integer() ? ".s32." : ".f32.") + WgmmaForm::name(form.a) + "." + WgmmaForm::name(form.b);
      expectRight(products.kernel(),
                  {(shape + types).c_str(), "wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned",
                   "wgmma.wait_group.sync.aligned 0"},
                  data.in, data.out.data(), [&] {
                    EXPECT_EQ(data.wrong(products), 0u) << shape << types << (registersA ? " from registers" : "");
                    std::fill(data.out.begin(), data.out.end(), 0x7fc00000);
                  });
    }
}

TEST(MachineProducts, SumsThatWereNotWaitedForAreNothing) {
  for (auto mistake : {Products::NoWait, Products::ReadPending})
    for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
      Products products = with(mistake);
      Data data(products);
      ASSERT_EQ(products.kernel().run(data.in, data.out.data(), timing), "");
      EXPECT_EQ(data.wrong(products), 64u * 64u);
    }
}

TEST(MachineProducts, WrongUsesAreFound) {
  expectFault(with(Products::NoFence), "starts a product on registers without wgmma.fence");
  expectFault(with(Products::NoFence, true), "starts a product on registers without wgmma.fence");
  expectFault(with(Products::NoArrival), "which the copy engine copies a box to, and nothing orders the two");
  expectFault(with(Products::NoProxyFence), "which thread 9 writes without a proxy fence");
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate})
    expectFault(with(Products::Overwrite), "of shared memory, which a product of warpgroup 0 multiplies", timing);
  expectFault(with(Products::Mixed), "sums of which some belong to another product under way");
  HandMade half{[](Code &c) {
    llvm::SmallVector<llvm::Value *> sums(4, llvm::ConstantFP::get(c.b.getFloatTy(), 0));
    cuda::BlockMachine::WgmmaStep step{{c.b.getInt64(0)}, c.b.getInt64(0)};
    c.when(c.below(64), [&] { c.m.wgmma(c.e, {8, WgmmaForm::F16, WgmmaForm::F16}, sums, step, c.i32(0)); });
  }};
  expectFault(half, nullptr, nullptr, "threads 0 to 63 wait for a product of a warpgroup together (64 of 128 threads have come)");
}
