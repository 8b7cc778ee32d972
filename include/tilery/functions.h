#pragma once
// Elementwise functions that are composed of several operations of the builder, by name: bits of integers, functions of floats, codes.
#include "tilery/region.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// The result of a function on operands of one type. Throws Error if there is no such function of so many operands.
Value composed(Builder &builder, const std::string &name, const std::vector<Value> &operands);
bool isFunction(const std::string &name);

/// Four random words a lane, of the type of the counter's four: Philox 4x32 or 4x64. The key has two.
std::vector<Value> philox(Builder &builder, const std::vector<Value> &counter, const std::vector<Value> &key, int64_t rounds);

/// Elements of a type that no machine computes with ("int4", "float8_e8m0fnu"), which lie in `codes`, a byte each or two a byte, as a fragment
/// of their values.
Buffer decodedRegion(Builder &builder, const Region &codes, const Shape &shape, const std::string &kind, bool twoInByte);
/// The reverse: the codes nearest to values.
void encodeRegion(Builder &builder, const Region &values, const Region &codes, const Shape &shape, const std::string &kind,
                  bool twoInByte);

/// A factor of a product in a microscaling format, as float32: "e2m1", two to a byte along the dimension `packed`, "e4m3", "e5m2", "bf16" or
/// "fp16", times a scale for each block along K, the last dimension, or of a `right` one the last but one. Scales lie [.., K / block].
Value scaledFactor(Builder &builder, const Value &x, const std::string &format, int64_t packed, const std::optional<Value> &scale,
                   bool right);

} // namespace tilery
#pragma GCC visibility pop
