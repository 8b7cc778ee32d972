#pragma once
// What the runtime asks of the processor that C++ has no words for. The one place of the runtime that differs between architectures, beside
// cpu_features.cpp and what is linked (elf_code.cpp, relocations.cpp).
#include <cstdint>
#include <ucontext.h>

#if defined(__x86_64__)
#include <immintrin.h>
/// Of functions that may use what generated code asks for, too.
#define TILERY_LIKE_GENERATED_CODE __attribute__((target("avx2")))
#elif defined(__aarch64__)
#define TILERY_LIKE_GENERATED_CODE
#else
#error "the runtime knows x86-64 and AArch64"
#endif

namespace tilery {

/// In a loop that waits for another thread.
inline void pauseOnce() {
#if defined(__x86_64__)
  _mm_pause();
#else
  asm volatile("isb"); // as long as x86's pause, about; yield is none at all on most
#endif
}

/// How this thread rounds and treats denormals. Threads that run its programs do the same.
inline uint64_t floatingPointMode() {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#endif
}
inline void setFloatingPointMode(uint64_t mode) {
#if defined(__x86_64__)
  _mm_setcsr(uint32_t(mode));
#else
  asm volatile("msr fpcr, %0" ::"r"(mode));
#endif
}

/// Where the code was that a signal interrupted.
inline uint64_t interruptedAt(const void *context) {
  const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
  return uint64_t(machine.gregs[REG_RIP]);
#else
  return machine.pc;
#endif
}

} // namespace tilery
