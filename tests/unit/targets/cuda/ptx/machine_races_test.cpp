// Accesses that nothing orders are found, whatever the order in which the emulator makes them; with the order that is missing they are not.
#include "tests/unit/targets/cuda/hand_made.h"
#include "compiler/block/forms/memory.h"

using namespace tilery;
using namespace tilery::test;
using cuda::WgmmaForm;

namespace {
constexpr int64_t barrierAt = 48 << 10;

struct Memory {
  alignas(128) float in[4096] = {}, out[4096] = {};
};

/// `bad` is reported, with both timings, in these words; `good` is not.
void expectFound(const HandMade &bad, const HandMade &good, const char *words) {
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    Memory memory;
    std::string said = bad.run(memory.in, memory.out, timing);
    EXPECT_NE(said.find(words), std::string::npos) << "\"" << said << "\" has no \"" << words << "\"";
    EXPECT_EQ(good.run(memory.in, memory.out, timing), "");
  }
}

/// `body` with the mistake and without.
void expectFound(void (*body)(Code &, bool right), const char *words, unsigned threads = 128, unsigned cluster = 1) {
  auto kernel = [&](bool right) {
    HandMade made{[=](Code &c) { body(c, right); }, threads};
    made.cluster = cluster;
    return made;
  };
  expectFound(kernel(false), kernel(true), words);
}

llvm::Value *word(Code &c, llvm::Value *index) { return c.sharedAt(c.times(index, 4)); }
llvm::Value *next(Code &c, int64_t distance, int64_t of) {
  return c.b.CreateURem(c.b.CreateAdd(c.thread, c.i32(distance)), c.i32(of));
}
void write(Code &c, llvm::Value *index) { c.m.storeShared(c.e, word(c, index), c.thread, false); }
void read(Code &c, llvm::Value *index) { c.put(c.thread, c.m.loadShared(c.e, c.b.getInt32Ty(), word(c, index), false)); }
void load(Code &c, int64_t place, int64_t bytes) {
  c.m.loadBytes(c.e, c.shared(place), c.global(0, c.i32(0)), c.i32(bytes), c.shared(barrierAt));
}
} // namespace

TEST(MachineRaces, ThreadsOfABlock) {
  expectFound(
      [](Code &c, bool right) {
        write(c, c.thread);
        if (right)
          c.m.barrier(c.e);
        read(c, next(c, 1, 128));
      },
      "of shared memory, which thread");
  expectFound( // what is read must not be written again before all have read it
      [](Code &c, bool right) {
        write(c, c.thread);
        c.m.barrier(c.e);
        read(c, next(c, 1, 128));
        if (right)
          c.m.barrier(c.e);
        write(c, c.thread);
      },
      "and nothing orders the two");
  expectFound( // neighbouring bytes are no conflict, the same ones are
      [](Code &c, bool right) {
        c.m.storeShared(c.e, c.sharedAt(right ? c.thread : c.b.CreateUDiv(c.thread, c.i32(2))),
                        c.b.CreateTrunc(c.thread, c.b.getInt8Ty()), false);
      },
      "writes 1 bytes");
}

TEST(MachineRaces, LanesOfAWarp) {
  expectFound( // a shuffle orders nothing
      [](Code &c, bool right) {
        write(c, c.thread);
        if (right)
          c.m.warpBarrier(c.e, c.i32(-1));
        else
          c.put(c.thread, c.m.shuffleFrom(c.e, c.thread, c.i32(0), c.i32(-1)));
        read(c, next(c, 1, 32));
      },
      "and nothing orders the two", 32);
  expectFound( // other warps are not there
      [](Code &c, bool right) {
        write(c, c.thread);
        right ? c.m.barrier(c.e) : c.m.warpBarrier(c.e, c.i32(-1));
        read(c, next(c, 32, 64));
      },
      "and nothing orders the two", 64);
}

TEST(MachineRaces, NamedBarriers) {
  expectFound( // two halves of the block, each with a barrier of its own
      [](Code &c, bool right) {
        write(c, c.thread);
        llvm::Value *half = c.b.CreateAdd(c.b.CreateUDiv(c.thread, c.i32(64)), c.i32(1));
        c.m.namedBarrier(c.e, right ? c.i32(1) : half, right ? 128 : 64);
        read(c, next(c, 64, 128));
      },
      "and nothing orders the two");
  expectFound( // who arrives only does not know of others
      [](Code &c, bool right) {
        write(c, c.thread);
        c.when(
            c.below(32),
            [&] {
              right ? c.m.namedBarrier(c.e, c.i32(2), 64) : c.m.arriveNamed(c.e, c.i32(2), 64);
              read(c, c.b.CreateAdd(c.thread, c.i32(32)));
            },
            [&] { c.m.namedBarrier(c.e, c.i32(2), 64); });
      },
      "and nothing orders the two", 64);
}

TEST(MachineRaces, BarriersThatCount) {
  expectFound( // what is written behind the arrival is not handed on
      [](Code &c, bool right) {
        c.makeBarrier(barrierAt, 1);
        c.when(c.is(0), [&] {
          if (right)
            write(c, c.i32(0));
          c.m.arrive(c.e, c.shared(barrierAt));
          if (!right)
            write(c, c.i32(0));
        });
        c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
        read(c, c.i32(0));
      },
      "which");
  expectFound( // a lane that arrives for its warp, where others may still read
      [](Code &c, bool right) {
        c.makeBarrier(barrierAt, 1);
        c.makeBarrier(barrierAt + 8, 3);
        c.fetch(barrierAt, 512, [&] { load(c, 0, 512); });
        c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
        c.when(c.below(96), [&] {
          read(c, c.thread);
          c.m.fenceProxy(c.e);
          if (right)
            c.m.warpBarrier(c.e, c.i32(-1));
          c.when(c.b.CreateICmpEQ(c.b.CreateURem(c.thread, c.i32(32)), c.i32(0)),
                 [&] { c.m.arrive(c.e, c.shared(barrierAt + 8)); });
        });
        c.when(c.is(96), [&] {
          c.m.waitBarrier(c.e, c.shared(barrierAt + 8), c.i32(0));
          c.m.arriveExpect(c.e, c.shared(barrierAt), c.i32(512));
          load(c, 0, 512);
        });
        c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(1));
      },
      "thread 96 copies a box to 512 bytes at 0 of shared memory, which thread");
  expectFound( // a barrier that others do not know of yet
      [](Code &c, bool right) {
        c.when(c.is(0), [&] {
          c.m.initBarrier(c.e, c.shared(barrierAt), 128);
          c.m.fenceBarrierInit(c.e);
        });
        right ? c.m.barrier(c.e) : c.m.namedBarrier(c.e, c.b.CreateAdd(c.b.CreateUDiv(c.thread, c.i32(64)), c.i32(1)), 64);
        c.m.arrive(c.e, c.shared(barrierAt));
      },
      "updates 8 bytes");
}

TEST(MachineRaces, CopiesAndStores) {
  expectFound( // a slot is filled again before it was given back
      [](Code &c, bool right) {
        c.makeBarrier(barrierAt, 1);
        c.makeBarrier(barrierAt + 8, 1);
        c.fetch(barrierAt, 512, [&] { load(c, 0, 512); });
        c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
        read(c, c.thread);
        c.m.fenceProxy(c.e);
        if (right)
          c.m.barrier(c.e);
        c.fetch(barrierAt + 8, 512,
                [&] { c.m.loadBytes(c.e, c.shared(0), c.global(0, c.i32(0)), c.i32(512), c.shared(barrierAt + 8)); });
        c.m.waitBarrier(c.e, c.shared(barrierAt + 8), c.i32(0));
      },
      "and nothing orders the two");
  expectFound( // what was read may still be on its way when the slot is filled again
      [](Code &c, bool right) {
        c.makeBarrier(barrierAt, 1);
        c.makeBarrier(barrierAt + 8, 1);
        c.fetch(barrierAt, 512, [&] { load(c, 0, 512); });
        c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
        read(c, c.thread);
        if (right)
          c.m.fenceProxy(c.e);
        c.m.barrier(c.e);
        c.fetch(barrierAt + 8, 512,
                [&] { c.m.loadBytes(c.e, c.shared(0), c.global(0, c.i32(0)), c.i32(512), c.shared(barrierAt + 8)); });
        c.m.waitBarrier(c.e, c.shared(barrierAt + 8), c.i32(0));
      },
      "reads without a proxy fence");
  expectFound( // its fence comes before what others write
      [](Code &c, bool right) {
        if (!right)
          c.when(c.is(0), [&] { c.m.fenceProxy(c.e); });
        write(c, c.thread);
        if (right)
          c.m.fenceProxy(c.e);
        c.m.barrier(c.e);
        c.when(c.is(0), [&] {
          c.m.storeBytes(c.e, c.global(1, c.i32(1024)), c.shared(0), c.i32(512));
          c.m.commitStores(c.e);
          c.m.waitStores(c.e, true, 0);
        });
      },
      "writes without a proxy fence");
  expectFound( // only the storer knows that its store has read
      [](Code &c, bool right) {
        write(c, c.thread);
        c.m.fenceProxy(c.e);
        c.m.barrier(c.e);
        c.when(c.is(0), [&] {
          c.m.storeBytes(c.e, c.global(1, c.i32(1024)), c.shared(0), c.i32(512));
          c.m.commitStores(c.e);
          c.m.waitStores(c.e, true, 0);
        });
        if (right)
          c.m.barrier(c.e);
        write(c, c.thread);
      },
      "and nothing orders the two");
  expectFound( // a group that may still run
      [](Code &c, bool right) {
        c.m.copyAsync(c.e, c.b.CreateGEP(c.b.getInt8Ty(), c.in.shared, c.times(c.thread, 16)), c.global(0, c.times(c.thread, 16)),
                      c.i32(16));
        c.m.commitCopies(c.e);
        c.m.waitCopies(c.e, right ? 0 : 1);
        read(c, c.times(c.thread, 4));
        c.m.waitCopies(c.e, 0);
      },
      "which a copy of thread");
  expectFound( // each thread waits for its own copies only
      [](Code &c, bool right) {
        c.m.copyAsync(c.e, c.b.CreateGEP(c.b.getInt8Ty(), c.in.shared, c.times(c.thread, 16)), c.global(0, c.times(c.thread, 16)),
                      c.i32(16));
        c.m.commitCopies(c.e);
        if (!right)
          c.m.barrier(c.e);
        c.m.waitCopies(c.e, 0);
        if (right)
          c.m.barrier(c.e);
        read(c, next(c, 4, 128));
      },
      "which a copy of thread");
}

TEST(MachineRaces, Products) {
  struct Body {
    static void multiply(Code &c, bool waits) {
      layout::Layout memory = layout::copyBoxes(64, 64, 2, layout::Swizzle::B128);
      layout::MatrixDescriptor in = *layout::matrixDescriptor(memory, 2);
      auto descriptor = [&](unsigned place) {
        llvm::Value *units = c.b.CreateAnd(c.b.CreateLShr(c.shared(place), 4), c.i32(0x3fff));
        return c.b.CreateOr(c.b.CreateZExt(units, c.b.getInt64Ty()), c.b.getInt64(in.bits()));
      };
      llvm::SmallVector<llvm::Value *> sums(32, llvm::ConstantFP::get(c.b.getFloatTy(), 0));
      c.m.wgmmaFence(c.e, {}, {});
      c.m.wgmma(c.e, {64, WgmmaForm::F16, WgmmaForm::F16}, sums, {{{descriptor(0)}, descriptor(8192)}}, c.i32(0));
      c.m.wgmmaCommit(c.e);
      if (waits)
        c.m.wgmmaWait(c.e, 0, sums, {});
    }
    static void fill(Code &c) { // 16 KB by copies
      c.makeBarrier(barrierAt, 1);
      c.fetch(barrierAt, 16384, [&] { load(c, 0, 16384); });
      c.m.waitBarrier(c.e, c.shared(barrierAt), c.i32(0));
    }
  };
  expectFound( // the four warps read all of B: who wrote it, all of them must know
      [](Code &c, bool right) {
        Body::fill(c);
        c.m.barrier(c.e);
        c.m.storeShared(c.e, c.sharedAt(c.b.CreateAdd(c.times(c.thread, 16), c.i32(8192))), c.i32(0), false);
        c.m.fenceProxy(c.e);
        right ? c.m.barrier(c.e) : c.m.warpBarrier(c.e, c.i32(-1));
        Body::multiply(c, true);
      },
      "multiplies 16 bytes");
  expectFound( // another warpgroup does not know that the product is over
      [](Code &c, bool right) {
        Body::fill(c);
        c.when(c.below(128), [&] { Body::multiply(c, true); });
        if (right)
          c.m.barrier(c.e);
        c.when(c.is(128), [&] { c.m.storeShared(c.e, c.shared(8192), c.i32(0), false); });
      },
      "and nothing orders the two", 256);
}

TEST(MachineRaces, Clusters) {
  expectFound(
      [](Code &c, bool right) {
        write(c, c.thread);
        right ? c.m.clusterBarrier(c.e) : c.m.barrier(c.e);
        llvm::Value *other = c.b.CreateXor(c.m.clusterRank(c.e), c.i32(1));
        llvm::Value *there = c.m.loadShared(c.e, c.b.getInt32Ty(), c.m.peerAddress(c.e, word(c, c.thread), other), true);
        c.put(c.b.CreateAdd(c.times(other, 64), c.thread), there);
        c.m.clusterBarrier(c.e);
      },
      "of block", 64, 2);
}

TEST(MachineRaces, GlobalMemory) {
  expectFound(
      [](Code &c, bool right) {
        c.put(c.thread, c.thread);
        if (right)
          c.m.barrier(c.e);
        auto *mirrored = c.b.CreateAlignedLoad(c.b.getInt32Ty(), c.global(1, c.times(next(c, 1, 128), 4)), llvm::Align(4));
        c.put(c.b.CreateAdd(c.thread, c.i32(128)), mirrored);
      },
      "which thread");
  expectFound( // atomic updates do not conflict with each other
      [](Code &c, bool right) {
        c.b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, c.global(1, c.i32(0)), c.i32(1), llvm::Align(4),
                            llvm::AtomicOrdering::Monotonic);
        if (right)
          c.m.barrier(c.e);
        c.when(c.is(5), [&] { c.put(c.i32(9), c.b.CreateAlignedLoad(c.b.getInt32Ty(), c.global(1, c.i32(0)), llvm::Align(4))); });
      },
      "updates");
}
