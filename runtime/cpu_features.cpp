// Which instructions this machine has, of those that LLVM uses in code for our targets.
#include "tilery/cpu_features.h"
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"
#include <cstdint>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sys/auxv.h>
#endif

namespace tilery {
namespace {
// Bits by position; a bundle keeps them, so that new ones go to the end.
enum Feature { AVX2, FMA, BMI, BMI2, AVX512F, AVX512BW, AVX512DQ, AVX512VL, AVX512CD, IFMA, VBMI, VBMI2, VNNI, BITALG, POPCNT };
enum { BF16 = POPCNT + 1, GFNI, VAES, VPCLMUL, FP16, AVXVNNI, AMX, NEON, DOTPROD, LSE };
constexpr uint64_t bit(unsigned feature) { return uint64_t(1) << feature; }
constexpr uint64_t avx2 = bit(AVX2) | bit(FMA) | bit(BMI) | bit(BMI2);
constexpr uint64_t avx512 = avx2 | bit(AVX512F) | bit(AVX512BW) | bit(AVX512DQ) | bit(AVX512VL) | bit(AVX512CD) | bit(IFMA) |
                            bit(VBMI) | bit(VBMI2) | bit(VNNI) | bit(BITALG) | bit(POPCNT) | bit(BF16) | bit(GFNI);
constexpr std::pair<const char *, uint64_t> targets[] = {{"avx2", avx2},
                                                         {"avx512", avx512},
                                                         {"sapphirerapids", avx512 | bit(FP16) | bit(AVXVNNI) | bit(AMX)},
                                                         {"aarch64-neon", bit(NEON)},
                                                         {"aarch64-dotprod", bit(NEON) | bit(DOTPROD) | bit(LSE)}};
} // namespace

#if defined(__x86_64__)
bool tilesAllowed() {
  static const bool allowed = [] {
    unsigned a, b, c, d;
    constexpr unsigned bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25, all = bf16 | tile | int8;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & all) != all)
      return false;
    constexpr long request = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA of Linux
    return syscall(SYS_arch_prctl, request, tileData) == 0;
  }();
  return allowed;
}

uint64_t cpuFeatures() {
  static const uint64_t found = [] {
    __builtin_cpu_init();
    uint64_t features = 0;
#define HAS(feature, name) features |= __builtin_cpu_supports(name) ? bit(feature) : 0
    HAS(AVX2, "avx2"), HAS(FMA, "fma"), HAS(BMI, "bmi"), HAS(BMI2, "bmi2");
    HAS(AVX512F, "avx512f"), HAS(AVX512BW, "avx512bw"), HAS(AVX512DQ, "avx512dq"), HAS(AVX512VL, "avx512vl");
    HAS(AVX512CD, "avx512cd"), HAS(IFMA, "avx512ifma"), HAS(VBMI, "avx512vbmi"), HAS(VBMI2, "avx512vbmi2");
    HAS(VNNI, "avx512vnni"), HAS(BITALG, "avx512bitalg"), HAS(POPCNT, "avx512vpopcntdq"), HAS(BF16, "avx512bf16");
    HAS(GFNI, "gfni"), HAS(VAES, "vaes"), HAS(VPCLMUL, "vpclmulqdq"), HAS(FP16, "avx512fp16"), HAS(AVXVNNI, "avxvnni");
#undef HAS
    features |= tilesAllowed() ? bit(AMX) : 0;
    return features;
  }();
  return found;
}
#else
bool tilesAllowed() { return false; }

uint64_t cpuFeatures() {
  constexpr unsigned neon = 1, atomics = 8, dotProducts = 20; // HWCAP_ASIMD, _ATOMICS, _ASIMDDP of Linux
  const uint64_t has = getauxval(AT_HWCAP);
  return (has >> neon & 1) << NEON | (has >> dotProducts & 1) << DOTPROD | (has >> atomics & 1) << LSE;
}
#endif

std::string cpuTargetOf(uint64_t features) {
  for (auto &[name, needed] : targets)
    if (features == needed)
      return name;
  return {};
}

uint64_t cpuFeaturesOf(std::string_view target) {
  if (target == "host")
    return cpuFeatures();
  for (auto &[name, features] : targets)
    if (target == name)
      return features;
  throw Error({Diagnostic::Kind::Value,
               "there is no CPU target '" + std::string(target) + "'",
               "host, avx2, avx512, sapphirerapids, aarch64-neon or aarch64-dotprod",
               {}});
}
} // namespace tilery
