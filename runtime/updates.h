#pragma once
// Which launches update memory at the moment: several, by indivisible steps, or one alone, which needs none.
#include "tilery/runtime.h"

namespace tilery {

/// From its construction to its end its thread's launch may update memory.
class UpdateTurn {
public:
  /// `alone`: asks for being alone, which is granted where nobody else has a turn. Else waits until nobody is alone.
  explicit UpdateTurn(bool alone);
  ~UpdateTurn();
  UpdateTurn(const UpdateTurn &) = delete;
  bool alone() const { return isAlone; }

private:
  bool isAlone;
  bool nested; // in a turn of this thread that is alone: a signal's handler launches, too
};

} // namespace tilery
