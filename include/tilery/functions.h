#pragma once
// Elementwise functions that are composed of several operations of the builder, by name: bits of integers, functions of floats, codes.
#include "tilery/builder.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// The result of a function on operands of one type. Throws Error if there is no such function of so many operands.
Value composed(Builder &builder, const std::string &name, const std::vector<Value> &operands);
bool isFunction(const std::string &name);

/// Four random words a lane, of the type of the counter's four: Philox 4x32 or 4x64. The key has two.
std::vector<Value> philox(Builder &builder, const std::vector<Value> &counter, const std::vector<Value> &key, int64_t rounds);

} // namespace tilery
#pragma GCC visibility pop
