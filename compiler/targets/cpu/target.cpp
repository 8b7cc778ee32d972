#include "compiler/targets/cpu/target.h"
#include "tilery/cpu_features.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>

namespace tilery::cpu {
namespace {
/// What is known of processors by their makers' names, not by their features.
void setSpeeds(CpuTarget &t) {
  bool zen = llvm::StringRef(t.cpu).starts_with("znver");
  // vdpbf16ps starts like an FMA on Zen 4 (measured: 228 GFLOP/s a core, FMAs of f32 114). A Xeon of 2023 was measured to start one where
  // it could start four FMAs: 121 GFLOP/s a core, where FMAs of f32 reach 247 (and AMX 4000).
  t.fastDotBF16 = t.dotBF16 && zen;
  // Zen 4: rows of 256 bytes, a page apart, 5.4 GB/s; asked for in the first-level cache 8, in the second 15. A Xeon lost by the latter.
  t.farFetch = zen;
}

CpuTarget make(const char *name, const char *cpu, unsigned bits, bool bf16, bool int8, bool fp16, bool amx) {
  CpuTarget t;
  t.name = name;
  t.cpu = cpu;
  t.vectorBits = bits;
  t.avx512 = t.unsignedVectors = bits == 512;
  t.maskedBits = t.avx512 ? 8 : 32;
  t.dotInt16 = true;
  t.vectorRegisters = t.avx512 ? 32 : 16;
  // Without this LLVM prefers 256-bit registers on some AVX-512 processors and splits our vectors.
  t.features = t.avx512 ? "-prefer-256-bit" : "";
  // Table entries are named after processors of AMD; their bundles run on Intel's, too, which lack these shuffles.
  if (llvm::StringRef(cpu).starts_with("znver"))
    t.features += t.features.empty() ? "-sse4a" : ",-sse4a";
  t.dotBF16 = bf16;
  t.dotInt8 = int8;
  t.halfArithmetic = fp16;
  t.amx = amx;
  setSpeeds(t);
  return t;
}

/// What every processor of Armv8-A has: NEON's 32 registers of 128 bits, fused multiply-adds, conversions of f16; no masks. Later ones have
/// dot products of bytes, and atomic updates of one instruction.
CpuTarget neon(const char *name, bool later) {
  CpuTarget t;
  t.name = name;
  t.architecture = Architecture::aarch64;
  t.cpu = "generic";
  t.features = later ? "+neon,+dotprod,+lse" : "+neon";
  t.dotInt8 = later;
  t.vectorBits = 128;
  t.vectorRegisters = 32;
  t.unsignedVectors = true;
  return t;
}

const std::vector<CpuTarget> &table() {
  static const std::vector<CpuTarget> targets = {
      make("avx2", "znver3", 256, false, false, false, false),
      make("avx512", "znver4", 512, true, true, false, false),
      make("sapphirerapids", "sapphirerapids", 512, true, true, true, true),
      neon("aarch64-neon", false),
      neon("aarch64-dotprod", true),
  };
  return targets;
}

const llvm::StringMap<bool> &hostFeatures() {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features;
}
bool hostHas(const char *feature) { return hostFeatures().lookup(feature); }

CpuTarget detect() {
  bool avx512 = hostHas("avx512f") && hostHas("avx512bw") && hostHas("avx512dq") && hostHas("avx512vl");
  CpuTarget t = make("host", "x86-64-v3", avx512 ? 512 : 256, avx512 && hostHas("avx512bf16"), avx512 && hostHas("avx512vnni"),
                     avx512 && hostHas("avx512fp16"), hostHas("amx-bf16") && hostHas("amx-int8") && tilesAllowed());
  t.cpu = llvm::sys::getHostCPUName().str();
  setSpeeds(t);
  // Virtual machines hide features of the processor they name: every feature is stated, present or absent.
  std::vector<std::string> list;
  for (const auto &entry : hostFeatures())
    list.push_back((entry.second ? "+" : "-") + entry.first().str());
  std::sort(list.begin(), list.end());
  for (const std::string &feature : list)
    t.features += (t.features.empty() ? "" : ",") + feature;
  return t;
}
} // namespace

const CpuTarget &hostTarget() {
  static const CpuTarget host = detect();
  return host;
}

const CpuTarget *findTarget(std::string_view name) {
  if (name == "host")
    return &hostTarget();
  for (const CpuTarget &t : table())
    if (t.name == name)
      return &t;
  return nullptr;
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const CpuTarget &t : table())
    names.push_back(t.name);
  return names;
}

bool hostRuns(const CpuTarget &target) {
  if (target.name == "host")
    return true;
  const CpuTarget &host = hostTarget();
  if (target.architecture != host.architecture)
    return false;
  if (!hostHas("avx2") || !hostHas("fma") || !hostHas("f16c") || !hostHas("bmi2"))
    return false;
  return (!target.avx512 || host.avx512) && (!target.dotBF16 || host.dotBF16) && (!target.dotInt8 || host.dotInt8) &&
         (!target.halfArithmetic || host.halfArithmetic) && (!target.amx || host.amx);
}

} // namespace tilery::cpu
