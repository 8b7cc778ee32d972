#pragma once
// Elementwise functions that are composed of several operations of the builder, by name: bits of integers, libdevice's functions of floats.
#include "tilery/builder.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// The result of a function on operands of one type. Throws Error if there is no such function of so many operands.
Value composed(Builder &builder, const std::string &name, const std::vector<Value> &operands);

} // namespace tilery
#pragma GCC visibility pop
