#pragma once
// What every target tells the shared lowering about one compilation.
#include "compiler/lower/target.h"

namespace tilery::lower {

struct Options {
  const Target &target;
  /// The launch promises TILERY_DISJOINT: no written argument overlaps another one. Loads may then move across stores to other
  /// arguments. Code compiled with `disjoint` must only be launched with that flag.
  bool disjoint = false;
  /// a * b + c may round once. Off: bit for bit what the oracle computes element by element.
  bool fpContract = true;
};

} // namespace tilery::lower
