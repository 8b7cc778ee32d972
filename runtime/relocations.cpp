#include "runtime/relocations.h"
#include <cstring>
#include <elf.h>
#include <limits>

namespace tilery {
namespace {

template <typename T> void put(char *bytes, T value) { std::memcpy(bytes, &value, sizeof value); }

/// `distance` in 32 bits; false if it does not fit.
bool putNarrow(char *bytes, int64_t distance) {
  if (distance < std::numeric_limits<int32_t>::min() || distance > std::numeric_limits<int32_t>::max())
    return false;
  put(bytes, int32_t(distance));
  return true;
}

class X86 : public Relocations {
public:
  X86() : Relocations(EM_X86_64, "x86-64") {}
  bool mayJump(uint32_t kind) const override { return kind == R_X86_64_PLT32 || kind == R_X86_64_PC32; }
  bool needsWord(uint32_t kind) const override {
    return kind == R_X86_64_GOTPCREL || kind == R_X86_64_GOTPCRELX || kind == R_X86_64_REX_GOTPCRELX;
  }
  void writeStub(char *at, uint64_t address) const override {
    const unsigned char jump[6] = {0xff, 0x25, 0, 0, 0, 0}; // jmp *[rip + 0]
    std::memcpy(at, jump, sizeof jump);
    put(at + sizeof jump, address);
  }
  unsigned width(uint32_t kind) const override {
    if (kind == R_X86_64_64 || kind == R_X86_64_PC64)
      return 8;
    return mayJump(kind) || needsWord(kind) ? 4 : 0;
  }
  bool apply(uint32_t kind, char *bytes, uint64_t place, uint64_t value) const override {
    if (width(kind) == 4)
      return putNarrow(bytes, int64_t(value - place));
    put(bytes, kind == R_X86_64_PC64 ? value - place : value);
    return true;
  }
};

class AArch64 : public Relocations {
public:
  AArch64() : Relocations(EM_AARCH64, "AArch64") {}
  bool mayJump(uint32_t kind) const override { return kind == R_AARCH64_CALL26 || kind == R_AARCH64_JUMP26; }
  bool needsWord(uint32_t kind) const override { return kind == R_AARCH64_ADR_GOT_PAGE || kind == R_AARCH64_LD64_GOT_LO12_NC; }
  void writeStub(char *at, uint64_t address) const override {
    put(at, uint32_t(0x58000050));     // ldr x16, at + 8
    put(at + 4, uint32_t(0xd61f0200)); // br x16
    put(at + 8, address);
  }
  unsigned width(uint32_t kind) const override {
    switch (kind) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
      return 8;
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_LO21:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return 4;
    default:
      return scaleOf(kind) < 0 ? 0 : 4;
    }
  }
  bool apply(uint32_t kind, char *bytes, uint64_t place, uint64_t value) const override {
    constexpr uint64_t page = 4096; // of ADRP, whatever the system's are
    switch (kind) {
    case R_AARCH64_ABS64:
      put(bytes, value);
      return true;
    case R_AARCH64_PREL64:
      put(bytes, value - place);
      return true;
    case R_AARCH64_PREL32:
      return putNarrow(bytes, int64_t(value - place));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return value % 4 == 0 && field(bytes, int64_t(value - place) >> 2, 26, 0);
    case R_AARCH64_ADR_PREL_LO21:
      return putPages(bytes, int64_t(value - place));
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
      return putPages(bytes, int64_t(value / page) - int64_t(place / page));
    default: // the place within a page, counted in elements
      return value % page % (1u << scaleOf(kind)) == 0 && unsignedField(bytes, value % page >> scaleOf(kind));
    }
  }

private:
  /// Of an instruction that is given the last twelve bits of an address, log2 of the bytes that it counts them in; -1: another kind.
  static int scaleOf(uint32_t kind) {
    switch (kind) {
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return 0;
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return 1;
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return 2;
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return 3;
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return 4;
    default:
      return -1;
    }
  }
  static uint32_t word(const char *bytes) {
    uint32_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  static bool unsignedField(char *bytes, uint64_t value) {
    put(bytes, (word(bytes) & ~(0xfffu << 10)) | uint32_t(value) << 10);
    return true;
  }
  static bool fits(int64_t value, unsigned width) {
    return value >= -(int64_t(1) << (width - 1)) && value < int64_t(1) << (width - 1);
  }
  static bool field(char *bytes, int64_t value, unsigned width, unsigned from) {
    if (!fits(value, width))
      return false;
    const uint32_t mask = ((1u << width) - 1) << from;
    put(bytes, (word(bytes) & ~mask) | (uint32_t(value) << from & mask));
    return true;
  }
  /// Of ADR and ADRP: the lowest two bits lie apart.
  static bool putPages(char *bytes, int64_t value) {
    if (!fits(value, 21))
      return false;
    return field(bytes, value >> 2, 19, 5) && (put(bytes, (word(bytes) & ~(3u << 29)) | uint32_t(value & 3) << 29), true);
  }
};
} // namespace

const Relocations &x86Relocations() {
  static const X86 relocations;
  return relocations;
}
const Relocations &aarch64Relocations() {
  static const AArch64 relocations;
  return relocations;
}
const Relocations &ownRelocations() {
#if defined(__aarch64__)
  return aarch64Relocations();
#else
  return x86Relocations();
#endif
}

} // namespace tilery
