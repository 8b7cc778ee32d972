#pragma once
// The words Python uses for the builder's enumerations. Each throws Error (a ValueError) for an unknown word.
#include "tilery/builder.h"

namespace tilery::python {
Policy promotionPolicy(const std::string &name); ///< "triton", "tir"
BinaryOp binaryOp(
    const std::string &
        name); ///< "+", "-", "*", "/", "//", "%", "truncdiv", "truncmod", "**", "&", ..., "min", "max", "min_nan", "max_nan", "mulhi", "div_rn"
UnaryOp unaryOp(const std::string &name);         ///< "-", "~", "not", "abs", "+"
MathOp mathOp(const std::string &name);           ///< "exp", "log2", "rsqrt", "fma", ...
ReduceKind reduceKind(const std::string &name);   ///< "sum", "prod", "max", "min", "max_nan", "min_nan", "and", "or", "xor"
RmwKind rmwKind(const std::string &name);         ///< "add", "max", "min", "and", "or", "xor", "exchange"
MemoryOrder memoryOrder(const std::string &name); ///< "relaxed", "acquire", "release", "acq_rel", "seq_cst"
SyncScope syncScope(const std::string &name);     ///< "cta", "gpu", "sys"
ShuffleMode shuffleMode(const std::string &name); ///< "idx", "up", "down", "xor"
VoteMode voteMode(const std::string &name);       ///< "any", "all", "ballot", "count"
Precision precision(const std::string &name);     ///< "ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"
Space space(const std::string &name);             ///< "shared", "fragment", "local", "global"
const char *spaceName(Space space);
} // namespace tilery::python
