#pragma once
// How code of an architecture refers to what lies elsewhere: the relocation kinds that LLVM makes of position-independent code of the small
// model. Both are known everywhere, so that both are tested everywhere; the loader takes that of its own process.
#include <cstdint>

namespace tilery {

class Relocations {
public:
  virtual ~Relocations() = default;
  uint16_t machine;        ///< EM_...
  const char *name;        ///< of the architecture, for errors
  uint64_t stubBytes = 16; ///< of the jump to an address anywhere, a multiple of 8
  /// Whether it is a call, which may be too far and then goes through such a jump.
  virtual bool mayJump(uint32_t kind) const = 0;
  /// Whether it asks for a word that holds the address.
  virtual bool needsWord(uint32_t kind) const = 0;
  virtual void writeStub(char *at, uint64_t address) const = 0;
  /// Bytes of the code or data that it changes; 0: no kind that is known here.
  virtual unsigned width(uint32_t kind) const = 0;
  /// False: the distance does not fit. `value`: what it refers to, the addend included; `place`: the address of what is changed, whose
  /// bytes are at `bytes`. For words of addresses `value` is where the word is.
  virtual bool apply(uint32_t kind, char *bytes, uint64_t place, uint64_t value) const = 0;

protected:
  Relocations(uint16_t machine, const char *name) : machine(machine), name(name) {}
};

const Relocations &x86Relocations();
const Relocations &aarch64Relocations();
/// Those of this process.
const Relocations &ownRelocations();

} // namespace tilery
