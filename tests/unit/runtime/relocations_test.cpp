// Relocations of both architectures: instructions as the assembler and the linker of GNU make them.
#include "runtime/relocations.h"
#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// The instruction after the relocation; 0: refused.
uint32_t applied(uint32_t kind, uint32_t instruction, uint64_t place, uint64_t value) {
  char bytes[4];
  std::memcpy(bytes, &instruction, sizeof bytes);
  EXPECT_EQ(aarch64Relocations().width(kind), 4u);
  if (!aarch64Relocations().apply(kind, bytes, place, value))
    return 0;
  std::memcpy(&instruction, bytes, sizeof bytes);
  return instruction;
}
constexpr uint64_t at = 0x400000;
} // namespace

TEST(Relocations, CallsReach128MiB) {
  const uint32_t call = 0x94000000;
  EXPECT_EQ(applied(R_AARCH64_CALL26, call, at, at + 0x1000), 0x94000400u);
  EXPECT_EQ(applied(R_AARCH64_CALL26, call, at, at - 4), 0x97ffffffu);
  EXPECT_EQ(applied(R_AARCH64_CALL26, call, at + (1 << 28), at + (1 << 28) - (1 << 27)), 0x96000000u);
  EXPECT_EQ(applied(R_AARCH64_CALL26, call, at, at + (1 << 27)), 0u);
  EXPECT_EQ(applied(R_AARCH64_CALL26, call, at, at + 2), 0u) << "no instruction is there";
}

TEST(Relocations, PagesAndPlacesInThem) {
  const uint32_t adrp = 0x90000000, add = 0x91000000, load = 0x3dc00000, word = 0xf9400000;
  EXPECT_EQ(applied(R_AARCH64_ADR_PREL_PG_HI21, adrp, at + 0xffc, at + 0x1000), 0xb0000000u) << "the next page, though near";
  EXPECT_EQ(applied(R_AARCH64_ADR_PREL_PG_HI21, adrp, at, at - 1), 0xf0ffffe0u);
  EXPECT_EQ(applied(R_AARCH64_ADR_PREL_PG_HI21, adrp, at, at + 0x7000), 0xf0000020u);
  EXPECT_EQ(applied(R_AARCH64_ADR_PREL_PG_HI21, adrp, at, at + (uint64_t(1) << 32)), 0u);
  EXPECT_EQ(applied(R_AARCH64_ADD_ABS_LO12_NC, add, at, at + 0xabc), 0x912af000u);
  EXPECT_EQ(applied(R_AARCH64_LDST128_ABS_LO12_NC, load, at, at + 0xab0), 0x3dc2ac00u);
  EXPECT_EQ(applied(R_AARCH64_LDST128_ABS_LO12_NC, load, at, at + 0xab8), 0u) << "it counts in 16 bytes";
  EXPECT_EQ(applied(R_AARCH64_LD64_GOT_LO12_NC, word, at, at + 0xab8), 0xf9455c00u);
}

TEST(Relocations, Words) {
  uint64_t word = 7;
  auto *bytes = reinterpret_cast<char *>(&word);
  EXPECT_EQ(aarch64Relocations().width(R_AARCH64_ABS64), 8u);
  EXPECT_TRUE(aarch64Relocations().apply(R_AARCH64_ABS64, bytes, at, ~uint64_t(1)));
  EXPECT_EQ(word, ~uint64_t(1));
  EXPECT_TRUE(aarch64Relocations().apply(R_AARCH64_PREL64, bytes, at, at - 3));
  EXPECT_EQ(int64_t(word), -3);
  word = 0x1111111122222222;
  EXPECT_TRUE(aarch64Relocations().apply(R_AARCH64_PREL32, bytes, at, at - 3));
  EXPECT_EQ(word, 0x11111111fffffffdu) << "the bytes behind stay";
  EXPECT_FALSE(aarch64Relocations().apply(R_AARCH64_PREL32, bytes, at, at + (uint64_t(1) << 31)));
  EXPECT_FALSE(x86Relocations().apply(R_X86_64_PC32, bytes, at, at + (uint64_t(1) << 31)));
}

TEST(Relocations, WhatNobodyMakesIsUnknown) {
  EXPECT_EQ(aarch64Relocations().width(R_AARCH64_TLSDESC_CALL), 0u);
  EXPECT_EQ(aarch64Relocations().width(R_AARCH64_MOVW_UABS_G0), 0u);
  EXPECT_EQ(x86Relocations().width(R_X86_64_32), 0u);
}

TEST(Relocations, FarCallsJump) {
  char stub[16];
  aarch64Relocations().writeStub(stub, 0x0123456789abcdef);
  const unsigned char wanted[] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
  EXPECT_EQ(std::memcmp(stub, wanted, sizeof stub), 0);
}
