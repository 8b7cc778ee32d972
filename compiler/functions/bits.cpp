// Bits of integers.
#include "compiler/functions/table.h"

namespace tilery::functions {
namespace {

/// The same bits without a sign, in at least 32.
Number unsignedOf(const Number &x) { return x.cast(bitWidth(x.dtype()) == 64 ? DType::U64 : DType::U32); }
int64_t width(const Number &x) { return bitWidth(x.dtype()); }
/// A mask of so many ones, divided.
int64_t ones(const Number &x, uint64_t divisor) { return int64_t((~uint64_t(0) >> (64 - width(x))) / divisor); }

Number popc(const Number &of) {
  Number x = unsignedOf(of);
  x = x - ((x >> 1) & ones(x, 3));
  Number even = x & ones(x, 5);
  x = even + ((x >> 2) & ones(x, 5));
  x = (x + (x >> 4)) & ones(x, 17);
  return ((x * ones(x, 255)) >> (width(x) - 8)).cast(DType::I32);
}

Number clz(const Number &of) {
  Number x = unsignedOf(of);
  for (int distance = 1; distance < width(x); distance *= 2)
    x = x | (x >> distance);
  return width(x) - popc(x);
}

Number ffs(const Number &of) {
  Number x = unsignedOf(of);
  Number above = ~x;
  Number below = above & (x - 1);
  Number none = x == 0;
  return select(none, 0, popc(below) + 1);
}

Number brev(const Number &of) {
  Number x = unsignedOf(of);
  for (int distance = int(width(x)) / 2; distance; distance /= 2) {
    int64_t low = ones(x, (uint64_t(1) << distance) + 1); // every other group of so many bits
    Number left = (x & low) << distance;
    x = left | ((x >> distance) & low);
  }
  return x.cast(of.dtype());
}

Number lower24(const Number &x) { return (x << 8) >> 8; }

Number mul24(const Numbers &x) {
  Number left = lower24(x[0]), right = lower24(x[1]);
  return left * right;
}

Number sad(const Numbers &x) {
  Number greater = x[0] > x[1], forward = x[0] - x[1], back = x[1] - x[0];
  return select(greater, forward, back) + x[2];
}

Number hadd(const Numbers &x) {
  Number both = x[0] & x[1];
  return both + ((x[0] ^ x[1]) >> 1);
}

Number rhadd(const Numbers &x) {
  Number either = x[0] | x[1];
  return either - ((x[0] ^ x[1]) >> 1);
}

/// Four bytes of y and x, as the nibbles of s name them.
Number bytePerm(const Numbers &operands) {
  Number x = operands[0].cast(DType::U32), y = operands[1].cast(DType::U32), s = operands[2].cast(DType::U32);
  Number low = x.cast(DType::U64);
  Number both = low | (y.cast(DType::U64) << 32);
  Number result;
  for (int place = 0; place < 4; ++place) {
    Number nibble = (s >> 4 * place) & 15;
    Number shift = ((nibble & 7) * 8).cast(DType::U64);
    Number byte = (both >> shift).cast(DType::U32) & 255;
    Number negative = byte > 127;
    Number full = constant(x.b, int64_t(255), DType::U32), none = constant(x.b, int64_t(0), DType::U32);
    Number sign = select(negative, full, none);
    Number chosen = nibble > 7;
    byte = select(chosen, sign, byte) << 8 * place;
    result = place ? result | byte : byte;
  }
  return result.cast(DType::I32);
}

/// Two numbers of 16 bits, or four of 8, in each word; a comparison gives all ones or none.
Number byPart(const Numbers &words, BinaryOp op, DType kind) {
  int bits = bitWidth(kind);
  DType part = bits == 16 ? DType::U16 : DType::U8;
  int64_t ones = (int64_t(1) << bits) - 1;
  bool compares = op >= BinaryOp::Eq && op <= BinaryOp::Ge;
  Number result;
  for (int place = 0; place < 32; place += bits) {
    Number x = ((words[0] >> place) & ones).cast(part), y = ((words[1] >> place) & ones).cast(part);
    Number value = binary(op, x.cast(kind), y.cast(kind));
    if (compares)
      value = select(value, constant(x.b, ones << place, DType::U32), constant(x.b, int64_t(0), DType::U32));
    else
      value = value.cast(part).cast(DType::U32) << place;
    result = place ? result | value : value;
  }
  return result;
}

/// CUDA's vadd2, vmaxu4, vcmpgts2 ..
void addFunctionsByPart(List &list) {
  auto add = [&](const std::string &name, BinaryOp op, bool isSigned) {
    for (auto [ending, kind] :
         {std::pair("2", isSigned ? DType::I16 : DType::U16), std::pair("4", isSigned ? DType::I8 : DType::U8)})
      list.push_back({name + ending, 2, 2, [op, kind](const Numbers &x) { return byPart(x, op, kind); }});
  };
  for (auto [name, op] : {std::pair("vadd", BinaryOp::Add), std::pair("vsub", BinaryOp::Sub), std::pair("vcmpeq", BinaryOp::Eq),
                          std::pair("vcmpne", BinaryOp::Ne)})
    add(name, op, false);
  for (auto [name, op] :
       {std::pair("vmax", BinaryOp::Max), std::pair("vmin", BinaryOp::Min), std::pair("vcmpgt", BinaryOp::Gt),
        std::pair("vcmpge", BinaryOp::Ge), std::pair("vcmplt", BinaryOp::Lt), std::pair("vcmple", BinaryOp::Le)})
    for (bool isSigned : {false, true})
      add(std::string(name) + (isSigned ? "s" : "u"), op, isSigned);
}

template <Number (*function)(const Number &)> Number one(const Numbers &x) { return function(x[0]); }

} // namespace

List functionsOfBits() {
  List list = {{"popc", 1, 1, one<popc>}, {"clz", 1, 1, one<clz>}, {"ffs", 1, 1, one<ffs>},
               {"brev", 1, 1, one<brev>}, {"mul24", 2, 2, mul24},  {"sad", 3, 3, sad},
               {"hadd", 2, 2, hadd},      {"rhadd", 2, 2, rhadd},  {"byte_perm", 3, 3, bytePerm}};
  addFunctionsByPart(list);
  return list;
}

} // namespace tilery::functions
