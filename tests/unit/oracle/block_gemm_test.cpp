// The two roles of a matrix product: right as they are, and reported with any wait, release or settle taken out or moved.
#include "block_program.h"
#include <bit>

using namespace tilery;
using namespace tilery::oracle;

namespace {

// C[z] = A[z] @ B[z], tiles of 64 x 16 x 16, in bf16.
const char *gemmText = R"(
!a = !block.shared<64x16xbf16>
!b = !block.shared<16x16xbf16>
!slot = !block.slot<[64x16xbf16, 16x16xbf16]>
!ring = !block.ring<3, [64x16xbf16, 16x16xbf16]>
!sum = !block.pending<tensor<64x16xf32>>
tile.kernel @gemm(%a: !tile.ptr<bf16, const>, %b: !tile.ptr<bf16, const>, %c: !tile.ptr<bf16>, %m: i64, %n: i64, %k: i64) {
  %all = arith.constant 2147483648 : i64
  %am = arith.muli %m, %k overflow<nsw> : i64
  %bm = arith.muli %k, %n overflow<nsw> : i64
  %cm = arith.muli %m, %n overflow<nsw> : i64
  %ma = block.map %a, [%all, %m, %k], [%am, %k] : !tile.ptr<bf16, const> -> !block.map<1x64x16xbf16, 32>
  %mb = block.map %b, [%all, %k, %n], [%bm, %n] : !tile.ptr<bf16, const> -> !block.map<1x16x16xbf16, 32>
  %mc = block.map %c, [%all, %m, %n], [%cm, %n] : !tile.ptr<bf16> -> !block.map<1x64x16xbf16, 32>
  %ring = block.ring takers 1 : !ring
  %out = block.alloc : !block.shared<64x16xbf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %kk = arith.trunci %k : i64 to i32
  %k15 = arith.addi %kk, %c16 : i32
  %k1 = arith.subi %k15, %c1 : i32
  %steps = arith.divui %k1, %c16 : i32
  block.roles {
    block.role @load warps 4 registers 40 {
      %end = block.programs grouped by 2 iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %row = arith.muli %x, %c64 : i32
        %col = arith.muli %y, %c16 : i32
        %q = scf.for %i = %c0 to %steps step %c1 iter_args(%at = %p) -> (i32) : i32 {
          %kat = arith.muli %i, %c16 : i32
          %s = block.acquire %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          block.copy %ma[%z, %row, %kat] -> %sa : !block.map<1x64x16xbf16, 32>, !a
          block.copy %mb[%z, %kat, %col] -> %sb : !block.map<1x16x16xbf16, 32>, !b
          block.publish %s : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %next : i32
        }
        block.yield %q : i32
      }
    }
    block.role @math warps 4 registers 232 {
      %end = block.programs grouped by 2 iter(%c0 : i32) {
      ^bb0(%x: i32, %y: i32, %z: i32, %p: i32):
        %row = arith.muli %x, %c64 : i32
        %col = arith.muli %y, %c16 : i32
        %zero = block.none : !sum
        %free = block.none : !slot
        %last, %q, %t = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %zero, %at = %p, %before = %free) -> (!sum, i32, !slot) : i32 {
          %s = block.take %ring[%at] : !ring
          %sa = block.part %s[0] : !slot
          %sb = block.part %s[1] : !slot
          %first = arith.cmpi eq, %i, %c0 : i32
          %d = block.mma_start %sum, %sa, %sb clear %first : !sum, !a, !b -> !sum
          block.mma_settle %sum : !sum
          block.release %before : !slot
          %next = arith.addi %at, %c1 : i32
          scf.yield %d, %next, %s : !sum, i32, !slot
        }
        %r = block.mma_wait %last : !sum -> tensor<64x16xf32>
        block.release %t : !slot
        %h = arith.truncf %r : tensor<64x16xf32> to tensor<64x16xbf16>
        block.store_wait read 0
        block.write %out, %h : !a, tensor<64x16xbf16>
        block.store_box %out -> %mc[%z, %row, %col] : !a, !block.map<1x64x16xbf16, 32>
        block.yield %q : i32
      }
    }
  }
  tile.return
})";

uint16_t bf16(float value) { return uint16_t(std::bit_cast<uint32_t>(value) >> 16); } // exact ones only
float fromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

/// Small integers: every sum is exact.
struct Gemm {
  const int batch = 2, m = 100, n = 40, k = 56;
  std::vector<uint16_t> a = numbers(batch * m * k, 7), b = numbers(batch * k * n, 5), c = std::vector<uint16_t>(batch * m * n);

  static std::vector<uint16_t> numbers(size_t count, unsigned seed) {
    std::vector<uint16_t> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = bf16(float(int((i * 2654435761u * seed >> 13) % 5) - 2));
    return values;
  }
  Report run(const Edits &edits, bool late, bool verify = true) {
    std::fill(c.begin(), c.end(), 0x7fc0);
    std::array<uint32_t, 3> grid{uint32_t(m + 63) / 64, uint32_t(n + 15) / 16, uint32_t(batch)};
    return runBlockProgram(edited(gemmText, edits), grid, {slot(a), slot(b), slot(c), uint64_t(m), uint64_t(n), uint64_t(k)},
                           late, verify);
  }
  int wrongElements() const {
    int wrong = 0;
    for (int z = 0; z < batch; ++z)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          float sum = 0;
          for (int l = 0; l < k; ++l)
            sum += fromBf16(a[(z * m + i) * k + l]) * fromBf16(b[(z * k + l) * n + j]);
          wrong += fromBf16(c[(z * m + i) * n + j]) != sum;
        }
    return wrong;
  }
  /// Both modes report `message`, at a line with `line`.
  void expectReport(const Edits &edits, const std::string &message, const std::string &line) {
    for (bool late : {false, true}) {
      Report report = run(edits, late, false);
      EXPECT_NE(report.message.find(message), std::string::npos) << report.message;
      EXPECT_NE(report.line.find(line), std::string::npos) << report.line << "\n" << report.message;
    }
  }
  void expectRight(const Edits &edits) {
    for (bool late : {false, true}) {
      EXPECT_EQ(run(edits, late).message, "");
      EXPECT_EQ(wrongElements(), 0) << "late: " << late;
    }
  }
};

TEST(OracleBlockGemm, IsAPlainProduct) {
  Gemm().expectRight({});
  Gemm().expectRight({{"!block.ring<3", "!block.ring<2"}});
  Gemm().expectRight({{"!block.ring<3", "!block.ring<20"}});
}

TEST(OracleBlockGemm, OrdersOfProgramsAreAllRight) {
  for (std::string order : {"grid", "longest", "grouped by 3"}) {
    std::string text = gemmText;
    for (size_t at; (at = text.find("grouped by 2")) != std::string::npos;)
      text.replace(at, 12, order);
    Gemm gemm;
    Report report = runBlockProgram(text, {2, 3, 2}, {slot(gemm.a), slot(gemm.b), slot(gemm.c), 100, 40, 56}, true);
    EXPECT_EQ(report.message, "");
    EXPECT_EQ(gemm.wrongElements(), 0) << order;
  }
}

TEST(OracleBlockGemm, SettledAndReleasedAtOnceIsRightToo) {
  Gemm().expectRight({{"block.mma_settle %sum", "block.mma_settle %d"},
                      {"block.release %before", "block.release %s"},
                      {"block.release %t : !slot", ""}});
}

TEST(OracleBlockGemm, ProductsThatAreNotSettled) {
  std::string message = "a product that is neither settled nor waited for may still read";
  Gemm gemm;
  gemm.expectReport({{"block.mma_settle %sum : !sum", ""}}, message, "block.release %before");
  gemm.expectReport({{"block.release %before", "block.release %s"}}, message, "block.release %s");
  gemm.expectReport({{"          block.mma_settle %sum : !sum\n          block.release %before : !slot\n",
                      "          block.release %before : !slot\n          block.mma_settle %sum : !sum\n"}},
                    message, "block.release %before");
  gemm.expectReport({{"        block.release %t : !slot\n", ""},
                     {"        %r = block.mma_wait", "        block.release %t : !slot\n        %r = block.mma_wait"}},
                    message, "block.release %t");
}

TEST(OracleBlockGemm, ReleasesThatAreMissing) {
  Gemm gemm;
  std::string missing = "waits to acquire position";
  gemm.expectReport({{"block.release %before : !slot", ""}}, missing, "block.acquire");
  gemm.expectReport({{"block.release %t : !slot", ""}}, missing, "block.acquire");
  gemm.expectReport({{"!block.ring<3", "!block.ring<1"}}, missing, "block.acquire");
  gemm.expectReport({{"takers 1", "takers 2"}}, missing, "block.acquire");
  Report report = gemm.run({{"block.release %before : !slot", ""}}, false);
  EXPECT_EQ(report.message,
            "roles wait for each other for ever: role @load of program (0, 0, 0) waits to acquire position 3 of a ring: "
            "position 0, in the same slot, is not released by all takers; role @math of program (0, 0, 0) waits to take "
            "position 3 of a ring, which nobody publishes");
}

TEST(OracleBlockGemm, ReleasesThatAreTooMany) {
  Gemm gemm;
  gemm.expectReport({{"block.release %t : !slot", "block.release %t : !slot\nblock.release %t : !slot"}}, "twice",
                    "block.release %t");
}

TEST(OracleBlockGemm, SlotsThatAreNotFilled) {
  Gemm gemm;
  gemm.expectReport({{"block.copy %mb[%z, %kat, %col] -> %sb : !block.map<1x16x16xbf16, 32>, !b", ""}},
                    "reads shared memory that holds nothing", "block.mma_start");
  gemm.expectReport({{"          block.publish %s : !slot\n", ""},
                     {"          block.copy %mb", "          block.publish %s : !slot\n          block.copy %mb"}},
                    "fills position 0 of a ring after it was published", "block.copy %mb");
  gemm.expectReport({{"block.publish %s : !slot", ""}}, "waits to take position 0 of a ring, which nobody publishes", "block.a");
}

TEST(OracleBlockGemm, PositionsThatAreWrong) {
  Gemm gemm;
  gemm.expectReport({{"iter_args(%at = %p) ->", "iter_args(%at = %c0) ->"}},
                    "acquires position 0, but the next one is 4: each position is acquired once, in order", "block.acquire");
  gemm.expectReport({{"iter_args(%sum = %zero, %at = %p,", "iter_args(%sum = %zero, %at = %c0,"}}, "after it was released",
                    "block.take");
  gemm.expectReport({{"block.take %ring[%at]", "block.take %ring[%c0]"}}, "position", "block.");
  // One step less than is loaded: what was copied is still under way when the block ends.
  gemm.expectReport({{"%last, %q, %t = scf.for %i = %c0 to %steps", "%last, %q, %t = scf.for %i = %c1 to %steps"}}, "position",
                    "block.");
}

TEST(OracleBlockGemm, StoresThatAreStillRead) {
  Gemm gemm;
  std::string message = "overwrites shared memory that a store that no `store_wait read` has waited for may still read";
  gemm.expectReport({{"block.store_wait read 0", ""}}, message, "block.write");
  gemm.expectReport({{"block.store_wait read 0", "block.store_wait read 1"}}, message, "block.write");
  Gemm().expectRight({{"block.store_wait read 0", "block.store_wait 0"}});
}

TEST(OracleBlockGemm, WhatTheVerifierSeesWithoutRunning) {
  Gemm gemm;
  for (const Edits &edits : {Edits{{"block.mma_settle %sum : !sum", ""}}, Edits{{"block.publish %s : !slot", ""}},
                             Edits{{"iter_args(%at = %p) ->", "iter_args(%at = %c0) ->"}}, Edits{{"takers 1", "takers 2"}}})
    EXPECT_THROW(gemm.run(edits, false), std::runtime_error);
}

} // namespace
