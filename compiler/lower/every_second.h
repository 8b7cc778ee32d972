#pragma once
#include "compiler/lower/address.h"

namespace tilery::lower {

/// Every second element from an address on (its step is 2), by two vector loads and a shuffle in place of a gather; `exists`: null or a mask,
/// `other`: what is in place of the rest. Null: the target moves no such elements under masks.
llvm::Value *loadEverySecond(Emitter &e, const Address &where, unsigned lanes, llvm::Value *exists, llvm::Value *other);

/// Elements whose distance is a number, one by one: all of them exist.
llvm::Value *loadEach(Emitter &e, const Address &where, unsigned lanes);

/// Elements that groups of neighbouring lanes share, by one load of those there are; `exists` and `other` as above. Null: the lanes lie
/// otherwise, or the target moves no such elements under masks.
llvm::Value *loadRepeated(Emitter &e, const Address &where, unsigned lanes, llvm::Value *exists, llvm::Value *other);

} // namespace tilery::lower
