#pragma once
#include "compiler/oracle/interpreter.h"

namespace tilery::oracle {

/// Options::matchSizes: reports factors that are walked along in step and have different sizes there.
void checkInnerSizes(Interpreter &in, tile::DotOp op);

} // namespace tilery::oracle
