#pragma once
// An instruction set as a value: what the planner, the emitters and LLVM need to know. Another ISA is another table entry.
#include <string>
#include <string_view>
#include <vector>

namespace tilery::cpu {

enum class Architecture { x86, aarch64 };

struct CpuTarget {
  std::string name; // of the table entry ("avx2", "avx512", ...) or "host"
  Architecture architecture = Architecture::x86;
  std::string cpu;      // LLVM's processor name
  std::string features; // LLVM's feature string, "+avx2,-foo"
  unsigned vectorBits = 256;
  unsigned vectorRegisters = 16;
  bool avx512 = false;          // masked operations, 32 registers
  unsigned maskedBits = 0;      // elements so wide or wider are moved under a mask by one instruction (0: none are)
  bool unsignedVectors = false; // vectors of u32 and f64 are converted by instructions
  bool dotInt16 = false;        // pairs of 16-bit integers are multiplied and added up by one instruction
  bool dotBF16 = false;         // vdpbf16ps, vcvtneps2bf16
  bool fastDotBF16 = false;     // vdpbf16ps does more than two f32 FMAs in their time
  bool dotInt8 = false;         // vpdpbusd on whole registers
  bool farFetch = false;        // lines asked for in the second-level cache come faster than in the first
  bool halfArithmetic = false;  // avx512fp16
  bool amx = false;             // tiles of bf16 and int8, and the system lets this process use them

  /// Lanes of a full register for elements of `bits` bits.
  unsigned lanes(unsigned bits) const { return vectorBits / bits; }
  /// What a cache of compiled code must be keyed by.
  std::string key() const {
    return std::string(triple()) + ";" + cpu + ";" + features + ";" + std::to_string(vectorBits) + (amx ? ";amx" : "");
  }
  /// LLVM's name of the system.
  const char *triple() const {
    return architecture == Architecture::x86 ? "x86_64-unknown-linux-gnu" : "aarch64-unknown-linux-gnu";
  }
};

/// The processor this process runs on (detected once). x86-64-v3 (AVX2, FMA, F16C) is the least we generate code for.
const CpuTarget &hostTarget();
/// Table entry by name, or "host". Null if there is none.
const CpuTarget *findTarget(std::string_view name);
/// Names of the table entries, "host" excluded.
std::vector<std::string> targetNames();
/// True if code for `target` runs on this processor.
bool hostRuns(const CpuTarget &target);

} // namespace tilery::cpu
