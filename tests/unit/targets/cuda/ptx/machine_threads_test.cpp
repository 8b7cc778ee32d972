// Threads, their barriers and clusters, on both block machines.
#include "tests/unit/targets/cuda/hand_made.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// 16-byte aligned results.
struct Out {
  alignas(128) int32_t values[512];
  Out() { std::fill(std::begin(values), std::end(values), -7); }
};

/// Thread 0 writes what all read, handed over by a barrier in shared memory, `rounds` times.
HandMade handOver(unsigned arrivals, llvm::function_ref<unsigned(unsigned round)> parity, unsigned rounds = 3) {
  std::vector<unsigned> parities;
  for (unsigned round = 0; round < rounds; ++round)
    parities.push_back(parity(round));
  return {[=](Code &c) {
    c.makeBarrier(0, arrivals);
    for (unsigned round = 0; round < rounds; ++round) {
      c.when(c.is(0), [&] {
        c.m.role(c.e, "writer");
        c.m.storeShared(c.e, c.shared(64), c.i32(40 + round), false);
        c.m.arrive(c.e, c.shared(0));
      });
      c.m.waitBarrier(c.e, c.shared(0), c.i32(parities[round]));
      c.put(c.thread, c.m.loadShared(c.e, c.b.getInt32Ty(), c.shared(64), false));
      c.m.barrier(c.e);
    }
  }};
}
} // namespace

TEST(MachineThreads, CountArrivals) {
  Out out;
  expectRight(
      handOver(1, [](unsigned round) { return round % 2; }),
      {"mbarrier.init.shared::cta.b64", "fence.mbarrier_init", "mbarrier.arrive.shared::cta.b64", "mbarrier.try_wait.parity"},
      nullptr, out.values, [&] { EXPECT_EQ(out.values[127], 42); });
}

TEST(MachineThreads, WrongParitiesAndCountsAreFound) {
  Out out;
  expectFault(
      handOver(2, [](unsigned round) { return round % 2; }), nullptr, out.values,
      "deadlock:\n  writer, thread 0 waits for the barrier at 0 to complete its phase 0 (1 arrivals and 0 bytes are to come)\n"
      "  threads 1 to 127 wait for");
  expectFault(handOver(1, [](unsigned) { return 0; }), nullptr, out.values, "and nothing orders the two", Timing::CopiesAtOnce);
  HandMade twice{[](Code &c) {
    c.makeBarrier(8, 1);
    c.when(c.is(3), [&] { c.m.expectBytes(c.e, c.shared(8), c.i32(16)); });
    c.m.barrier(c.e);
    c.when(c.below(2), [&] { c.m.arrive(c.e, c.shared(8)); });
  }};
  expectFault(twice, nullptr, nullptr, "arrives at the barrier at 8, which has its 1 arrivals");
  HandMade unmade{[](Code &c) { c.m.arrive(c.e, c.shared(24)); }};
  expectFault(unmade, nullptr, nullptr, "uses a barrier at 24 of shared memory, where none was made");
  HandMade overwritten{[](Code &c) {
    c.makeBarrier(16, 1);
    c.when(c.is(5), [&] { c.m.storeShared(c.e, c.shared(16), c.i32(1), false); });
    c.m.barrier(c.e);
    c.m.waitBarrier(c.e, c.shared(16), c.i32(0));
  }};
  expectFault(overwritten, nullptr, nullptr, "uses a barrier at 16 of shared memory that was written over");
  HandMade outside{[](Code &c) { c.m.storeShared(c.e, c.shared(64 << 10), c.i32(1), false); }};
  expectFault(outside, nullptr, nullptr, "names 4 bytes at 65536 of shared memory, which has 65536");
}

TEST(MachineThreads, MeetAtNamedBarriers) {
  auto kernel = [](unsigned counted) {
    return HandMade{[counted](Code &c) { // the first warp writes and goes on, the second reads
                      c.when(
                          c.below(32),
                          [&] {
                            c.m.storeShared(c.e, c.sharedAt(c.times(c.thread, 4)), c.thread, false);
                            c.m.arriveNamed(c.e, c.i32(3), 64);
                          },
                          [&] {
                            c.m.namedBarrier(c.e, c.i32(3), counted);
                            llvm::Value *mirror = c.b.CreateSub(c.i32(63), c.thread);
                            c.put(c.thread, c.m.loadShared(c.e, c.b.getInt32Ty(), c.sharedAt(c.times(mirror, 4)), false));
                          });
                    },
                    64};
  };
  Out out;
  expectRight(kernel(64), {"bar.arrive", "bar.sync"}, nullptr, out.values, [&] {
    for (int i = 32; i < 64; ++i)
      EXPECT_EQ(out.values[i], 63 - i);
  });
  expectFault(kernel(96), nullptr, out.values, "threads, where others wait for");
}

TEST(MachineThreads, OneOfAWarpIsElected) {
  HandMade kernel{[](Code &c) { c.put(c.thread, c.b.CreateZExt(c.m.elect(c.e), c.b.getInt32Ty())); }, 64};
  Out out;
  expectRight(kernel, {"elect.sync"}, nullptr, out.values, [&] {
    EXPECT_EQ(std::count(out.values, out.values + 32, 1), 1);
    EXPECT_EQ(std::count(out.values + 32, out.values + 64, 1), 1);
  });
}

TEST(MachineThreads, RegistersMoveBetweenWarpgroups) {
  auto kernel = [](unsigned consumers) {
    return HandMade{[consumers](Code &c) {
                      c.when(
                          c.below(128), [&] { c.m.setRegisters(c.e, 40, false); },
                          [&] {
                            c.m.role(c.e, "consumer");
                            c.m.setRegisters(c.e, consumers, true);
                          });
                    },
                    384};
  };
  expectRight(kernel(232), {"setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32"}, nullptr, nullptr, [] {});
  expectFault(kernel(240), nullptr, nullptr, "wait for 240 registers");
}

TEST(MachineThreads, BlocksOfAClusterShareMemory) {
  auto kernel = [](bool meets) {
    return HandMade{[meets](Code &c) { // each thread writes to the other block, which waits for all of them
                      c.makeBarrier(1024, 64);
                      c.m.clusterBarrier(c.e);
                      llvm::Value *rank = c.m.clusterRank(c.e), *other = c.b.CreateXor(rank, c.i32(1));
                      llvm::Value *value = c.b.CreateAdd(c.times(rank, 100), c.thread);
                      c.m.storeShared(c.e, c.m.peerAddress(c.e, c.sharedAt(c.times(c.thread, 4)), other), value, true);
                      if (meets) {
                        c.m.arrivePeer(c.e, c.m.peerAddress(c.e, c.shared(1024), other));
                        c.m.waitBarrier(c.e, c.shared(1024), c.i32(0));
                      }
                      c.put(c.b.CreateAdd(c.times(rank, 64), c.thread),
                            c.m.loadShared(c.e, c.b.getInt32Ty(), c.sharedAt(c.times(c.thread, 4)), false));
                      c.m.clusterBarrier(c.e);
                      llvm::Value *there = c.m.loadShared(c.e, c.b.getInt32Ty(), c.m.peerAddress(c.e, c.shared(4), other), true);
                      c.put(c.b.CreateAdd(c.i32(256), rank), there);
                      c.m.clusterBarrier(c.e);
                    },
                    64, 4096, 2};
  };
  Out out;
  expectRight(kernel(true),
              {"mapa.shared::cluster.u32", "mbarrier.arrive.release.cluster", "barrier.cluster.arrive", "barrier.cluster.wait",
               "ld.shared::cluster", "st.shared::cluster", "cluster_ctarank"},
              nullptr, out.values, [&] {
                for (int i = 0; i < 64; ++i)
                  EXPECT_EQ(std::pair(out.values[i], out.values[64 + i]), std::pair(100 + i, i));
                EXPECT_EQ(std::pair(out.values[256], out.values[257]), std::pair(1, 101));
              });
  expectFault(kernel(false), nullptr, out.values, "and nothing orders the two");
}

TEST(MachineThreads, WaitForTheLaunchBefore) {
  HandMade kernel{[](Code &c) {
    c.m.waitForLaunch(c.e);
    c.put(c.thread, c.m.here(c.e, c.m.threadNow(c.e)));
    c.m.letLaunchFollow(c.e);
  }};
  Out out;
  expectRight(kernel, {"griddepcontrol.wait", "griddepcontrol.launch_dependents", "%tid.x"}, nullptr, out.values,
              [&] { EXPECT_EQ(out.values[127], 127); });
}

TEST(MachineThreads, ThatPartAreNamed) {
  HandMade alone{[](Code &c) {
                   c.m.role(c.e, "reader");
                   c.when(c.below(32), [&] { c.m.barrier(c.e); });
                 },
                 64};
  expectFault(alone, nullptr, nullptr,
              "deadlock:\n  reader, threads 0 to 31 wait for the block's barrier (32 of 64 threads have come)\n  reader, "
              "threads 32 to 63 ended");
  HandMade shuffled{
      [](Code &c) { c.when(c.below(16), [&] { c.put(c.thread, c.m.shuffleFrom(c.e, c.thread, c.i32(0), c.i32(-1))); }); }, 32};
  Out out;
  expectFault(shuffled, nullptr, out.values, "wait for a shuffle together (16 of 32 threads have come)");
}
