// What instructions of PTX compute.
#include "compiler/foreign/ptx_program.h"
#include "compiler/foreign/text.h"
#include "tilery/functions.h"
#include <algorithm>
#include <bit>
#include <charconv>

namespace tilery::foreign {
namespace {

template <typename T, size_t N> std::optional<T> lookUp(const std::pair<const char *, T> (&table)[N], std::string_view name) {
  for (const auto &[word, value] : table)
    if (name == word)
      return value;
  return {};
}
/// The same of what has to be known.
template <typename T, size_t N> T known(const std::pair<const char *, T> (&table)[N], std::string_view name) {
  if (std::optional<T> found = lookUp(table, name))
    return *found;
  throw NotUnderstood{};
}
template <typename T> const T &at(const std::vector<T> &list, size_t place) {
  if (place >= list.size())
    throw NotUnderstood{};
  return list[place];
}
bool has(const PtxInstruction &instruction, const char *modifier) { return llvm::is_contained(instruction.modifiers, modifier); }

/// Does the instruction mean something else without the modifier, or is it one that nobody has heard of? Where it is a hint, or one of those
/// whose meaning is looked at, it is neither.
bool isKnown(const std::string &name, const std::string &modifier) {
  static const char *const always[] = {"approx", "full", "ftz", "rn"};
  static const std::pair<const char *, std::vector<std::string>> own[] = {
      {"mul", {"lo", "hi", "wide"}},
      {"mad", {"lo", "hi"}},
      {"shf", {"l", "r", "wrap", "clamp"}},
      {"min", {"NaN"}},
      {"max", {"NaN"}},
      {"cvt", {"rz", "rni", "rzi", "rmi", "rpi"}},
      {"setp", {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi", "hs", "equ",
                "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor"}},
  };
  static const std::vector<std::string> ofMemory{"global",  "nc",  "weak",    "volatile", "relaxed", "acquire",
                                                 "release", "cta", "cluster", "gpu",      "sys",     "ca",
                                                 "cg",      "cs",  "lu",      "cv",       "wb",      "wt"};
  if (ptxType(modifier) || llvm::is_contained(always, modifier))
    return true;
  if (name == "ld" || name == "st")
    return llvm::is_contained(ofMemory, modifier) || modifier.starts_with("L1::") || modifier.starts_with("L2::");
  for (const auto &[instruction, words] : own)
    if (name == instruction)
      return llvm::is_contained(words, modifier);
  return false;
}

/// The numbers of which a register holds two.
std::optional<DType> pairType(std::string_view word) {
  using enum DType;
  static const std::pair<const char *, DType> table[] = {{"f16x2", F16}, {"bf16x2", BF16},   {"u16x2", U16},
                                                         {"s16x2", I16}, {"e4m3x2", F8E4M3}, {"e5m2x2", F8E5M2}};
  return lookUp(table, word);
}

/// The type of twice the bits, of wide products.
DType wider(DType type) {
  switch (type) {
  case DType::I16:
    return DType::I32;
  case DType::U16:
    return DType::U32;
  case DType::I32:
    return DType::I64;
  case DType::U32:
    return DType::U64;
  default:
    return type;
  }
}

bool isHex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return isDigit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); });
}

/// An integer as C writes it, modulo 2^64.
std::optional<uint64_t> integerOf(std::string_view text, bool &negative) {
  while (text.ends_with('U'))
    text.remove_suffix(1);
  negative = text.starts_with('-');
  if (negative || text.starts_with('+'))
    text.remove_prefix(1);
  int base = text.starts_with("0x") || text.starts_with("0X") ? 16 : text.starts_with("0b") || text.starts_with("0B") ? 2 : 10;
  if (base != 10)
    text.remove_prefix(2);
  else if (text.size() > 1 && text.front() == '0' && text.find_first_not_of('0') != std::string_view::npos)
    return {}; // C's octal numbers are none of PTX's
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size())
    return {};
  return negative ? -value : value;
}

} // namespace

std::optional<DType> ptxType(std::string_view word) {
  using enum DType;
  static const std::pair<const char *, DType> table[] = {{"pred", Bool}, {"f16", F16}, {"bf16", BF16}, {"f32", F32}, {"f64", F64},
                                                         {"b8", U8},     {"b16", U16}, {"b32", U32},   {"b64", U64}, {"u8", U8},
                                                         {"u16", U16},   {"u32", U32}, {"u64", U64},   {"s8", I8},   {"s16", I16},
                                                         {"s32", I32},   {"s64", I64}};
  return lookUp(table, word);
}

std::optional<DType> registerOf(std::string_view letter) {
  static const std::pair<const char *, DType> table[] = {{"r", DType::U32}, {"f", DType::F32}, {"h", DType::U16},
                                                         {"l", DType::U64}, {"d", DType::F64}, {"c", DType::U16},
                                                         {"b", DType::Bool}};
  return lookUp(table, letter);
}

DType unsignedOf(unsigned bits) { return bits == 8 ? DType::U8 : bits == 16 ? DType::U16 : bits == 32 ? DType::U32 : DType::U64; }

Value asType(Builder &b, const Value &value, DType dtype) {
  unsigned have = bitWidth(value.dtype()), want = bitWidth(dtype);
  if (value.dtype() == dtype || want == 1)
    return b.cast(value, dtype);
  if (have == want)
    return b.bitcast(value, dtype);
  Value whole = have > 1 ? b.bitcast(value, unsignedOf(have)) : b.cast(value, DType::U32);
  return asType(b, b.cast(whole, unsignedOf(want)), dtype);
}

Value joined(Builder &b, const std::vector<Value> &parts) {
  Value whole = parts.front();
  for (size_t k = 1; k < parts.size(); ++k)
    whole = b.binary(BinaryOp::Or, whole, parts[k]);
  return whole;
}

PtxProgram::Register *PtxProgram::find(std::string_view name) {
  auto found = std::ranges::find(registers, name, &Register::name);
  return found == registers.end() ? nullptr : &*found;
}

void PtxProgram::set(const std::string &name, const Value &value) {
  if (Register *known = find(name))
    *known = {name, value, true};
  else
    registers.push_back({name, value, true});
}

Value PtxProgram::read(std::string_view operand, DType dtype) {
  operand = trimmed(operand);
  if (operand.starts_with('!') && isBool(dtype))
    return b.unary(UnaryOp::LogicalNot, read(operand.substr(1), DType::Bool));
  if (const Register *held = find(operand))
    return asType(b, held->value, dtype);
  return number(operand, dtype);
}

Value PtxProgram::number(std::string_view text, DType dtype) {
  std::string_view prefix = text.substr(0, 2), digits = text.substr(std::min<size_t>(2, text.size()));
  bool single = prefix == "0f" || prefix == "0F", twice = prefix == "0d" || prefix == "0D";
  if ((single || twice) && digits.size() == (single ? 8 : 16) && isHex(digits)) {
    uint64_t bits = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    if (isFloat(dtype))
      return b.full(shape, Literal(single ? double(std::bit_cast<float>(uint32_t(bits))) : std::bit_cast<double>(bits)), dtype);
    if (bitWidth(dtype) != (single ? 32 : 64))
      throw NotUnderstood{};
    return bitsOf(bits, dtype);
  }
  bool negative = false;
  if (std::optional<uint64_t> whole = integerOf(text, negative)) {
    bool small = negative || *whole <= uint64_t(INT64_MAX);
    if (!isInteger(dtype))
      return b.full(shape, small ? Literal(int64_t(*whole)) : Literal(*whole), dtype);
    return bitsOf(*whole, dtype);
  }
  double value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size())
    b.fail(Diagnostic::Kind::Value,
           "`" + std::string(text) + "` in the assembly is neither a register that has a value nor a number");
  if (!isFloat(dtype))
    throw NotUnderstood{};
  return b.full(shape, Literal(value), dtype);
}

/// The lower bits of a number, as an integer.
Value PtxProgram::bitsOf(uint64_t number, DType dtype) {
  unsigned bits = bitWidth(dtype);
  uint64_t masked = bits == 64 ? number : number & ((uint64_t(1) << bits) - 1);
  Literal literal = masked <= uint64_t(INT64_MAX) ? Literal(int64_t(masked)) : Literal(masked);
  return b.bitcast(b.full(shape, literal, unsignedOf(bits)), dtype);
}

bool PtxProgram::holds(std::string_view name) const {
  return std::ranges::find(registers, name, &Register::name) != registers.end();
}

void PtxProgram::run(const PtxInstruction &each) {
  try {
    each.guarded ? guarded(each) : instruction(each);
  } catch (const NotUnderstood &) {
    throw NotUnderstood{each.text};
  }
}

/// An instruction that is carried out where a predicate holds; elsewhere its results stay what they were.
void PtxProgram::guarded(const PtxInstruction &each) {
  std::vector<Register> before = registers;
  guard = read(each.guard, DType::Bool);
  for (Register &held : registers)
    held.fresh = false;
  instruction(each);
  for (size_t k = 0; k < before.size(); ++k) // others were not there before
    if (registers[k].fresh) {
      Value new_ = registers[k].value;
      registers[k].value = b.select(*guard, new_, asType(b, before[k].value, new_.dtype()));
    }
  guard.reset();
}

void PtxProgram::instruction(const PtxInstruction &each) {
  Value result = value(each);
  if (result && at(each.operands, 0) != "_")
    set(each.operands[0], result);
}

Value PtxProgram::value(const PtxInstruction &each) {
  const std::string &name = each.name;
  const std::vector<std::string> &operands = each.operands;
  if (name == "cvt" && each.operands.size() == 3)
    return packed(each);
  if (!each.modifiers.empty() && pairType(each.modifiers.back()))
    return ofPairs(each);
  std::vector<DType> kinds;
  for (const std::string &modifier : each.modifiers) {
    if (!isKnown(name, modifier))
      throw NotUnderstood{};
    if (std::optional<DType> type = ptxType(modifier))
      kinds.push_back(*type);
  }
  if (kinds.empty())
    throw NotUnderstood{};
  DType kind = kinds.back();
  if (name == "ld" || name == "st")
    return memory(each, kind);
  if (name == "mov") {
    if (Value asked = special(at(operands, 1)))
      return asked;
    if (operands[0].starts_with('{') || operands[1].starts_with('{'))
      return moved(each, kind);
  }
  if (name == "cvt")
    return converted(each, at(kinds, kinds.size() - 2), kind);
  if (name == "setp")
    return compared(each, kind);
  if (name == "selp") {
    Value condition = read(at(operands, 3), DType::Bool);
    Value x = read(operands[1], kind), y = read(operands[2], kind);
    return b.select(condition, x, y);
  }
  if (name == "shl" || name == "shr") {
    Value amount = b.cast(read(at(operands, 2), DType::U32), kind);
    return b.binary(name == "shl" ? BinaryOp::Shl : BinaryOp::Shr, read(operands[1], kind), amount);
  }
  std::vector<Value> sources;
  bool table = name == "lop3";
  for (size_t k = 1; k < (table ? std::min<size_t>(operands.size(), 4) : operands.size()); ++k)
    sources.push_back(read(operands[k], kind));
  if (!table)
    return arithmetic(each, kind, sources);
  bool negative = false;
  std::optional<uint64_t> number = integerOf(at(operands, 4), negative);
  if (!number || negative || *number > 255)
    throw NotUnderstood{};
  return lookedUp(sources, int64_t(*number));
}

/// setp: the result of a comparison, combined with a predicate if there is one; of `p|q` the second is the contrary.
Value PtxProgram::compared(const PtxInstruction &each, DType kind) {
  using enum BinaryOp;
  static const std::pair<const char *, BinaryOp> comparisons[] = {{"eq", Eq}, {"ne", Ne}, {"lt", Lt}, {"le", Le}, {"gt", Gt},
                                                                  {"ge", Ge}, {"lo", Lt}, {"ls", Le}, {"hi", Gt}, {"hs", Ge}};
  static const std::pair<const char *, BinaryOp> combinations[] = {{"and", LogicalAnd}, {"or", LogicalOr}, {"xor", Ne}};
  Value x = read(at(each.operands, 1), kind), y = read(at(each.operands, 2), kind);
  const std::string &word = each.modifiers.front();
  std::string_view name = word;
  while (name.ends_with('u'))
    name.remove_suffix(1);
  Value unordered;
  if (isFloat(kind)) {
    Value first = b.math(MathOp::IsNan, {x}), second = b.math(MathOp::IsNan, {y});
    unordered = b.binary(LogicalOr, first, second);
  }
  Value holds;
  if (name == "num" || name == "nan") {
    if (!unordered)
      throw NotUnderstood{};
    holds = name == "num" ? b.unary(UnaryOp::LogicalNot, unordered) : unordered;
  } else {
    holds = b.binary(known(comparisons, name), x, y);
    if (unordered) {
      Value ordered = b.unary(UnaryOp::LogicalNot, unordered);
      holds = word != name ? b.binary(LogicalOr, holds, unordered) : b.binary(LogicalAnd, holds, ordered);
    }
  }
  std::vector<Value> results{holds, b.unary(UnaryOp::LogicalNot, holds)};
  if (each.operands.size() > 3) {
    Value other = read(each.operands[3], DType::Bool);
    BinaryOp op = known(combinations, at(each.modifiers, 1));
    for (Value &result : results)
      result = b.binary(op, result, other);
  }
  std::vector<std::string> targets = split(each.operands[0], '|');
  for (size_t k = 0; k < std::min<size_t>(targets.size(), 2); ++k)
    set(std::string(trimmed(targets[k])), results[k]);
  return {};
}

/// What the machine or the launch says, in all lanes; null: the name is none of these.
Value PtxProgram::special(std::string_view name) {
  Value value;
  size_t dot = name.find('.');
  std::string_view register_ = name.substr(0, dot), axis = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  if (name == "%globaltimer")
    value = b.clock();
  else if (name == "%smid")
    value = b.processor();
  else if ((register_ == "%ctaid" || register_ == "%nctaid") && axis.size() == 1 && axis[0] >= 'x' && axis[0] <= 'z')
    value = register_ == "%ctaid" ? b.programId(axis[0] - 'x') : b.numPrograms(axis[0] - 'x');
  else
    return {};
  value = b.bitcast(value, unsignedOf(bitWidth(value.dtype())));
  return b.splat(value, shape);
}

Value PtxProgram::arithmetic(const PtxInstruction &each, DType kind, const std::vector<Value> &x) {
  using enum BinaryOp;
  const std::string &name = each.name;
  size_t count = x.size();
  bool product = name == "mul" || name == "mad" || name == "fma";
  if (product && (name == "mul" ? count != 2 : count != 3))
    throw NotUnderstood{};
  if (product && has(each, "wide")) {
    if (name == "mad" || !isInteger(kind))
      throw NotUnderstood{};
    Value left = b.cast(x[0], wider(kind)), right = b.cast(x[1], wider(kind));
    return b.binary(Mul, left, right);
  }
  BinaryOp multiply = has(each, "hi") ? MulHigh : Mul;
  if (name == "mul")
    return b.binary(multiply, x[0], x[1]);
  if (product) {
    Value both = b.binary(multiply, x[0], x[1]);
    return isInteger(kind) ? b.binary(Add, both, x[2]) : b.math(MathOp::Fma, {x[0], x[1], x[2]});
  }
  if (count == 1) {
    static const std::pair<const char *, MathOp> functions[] = {
        {"ex2", MathOp::Exp2}, {"lg2", MathOp::Log2}, {"sqrt", MathOp::Sqrt}, {"rsqrt", MathOp::Rsqrt},
        {"sin", MathOp::Sin},  {"cos", MathOp::Cos},  {"tanh", MathOp::Tanh}};
    if (std::optional<MathOp> function = lookUp(functions, name))
      return b.math(*function, {x[0]});
    if (name == "mov")
      return x[0];
    if (name == "neg")
      return b.unary(UnaryOp::Neg, x[0]);
    if (name == "abs")
      return b.unary(UnaryOp::Abs, x[0]);
    if (name == "not")
      return b.unary(isBool(kind) ? UnaryOp::LogicalNot : UnaryOp::Invert, x[0]);
    if (name == "rcp")
      return b.binary(RoundDiv, Literal(1.0), x[0]);
    if (name == "popc" || name == "clz")
      return asType(b, composed(b, name, x), DType::U32);
    if (name == "brev")
      return composed(b, name, x);
  }
  if (count == 2) {
    static const std::pair<const char *, BinaryOp> operations[] = {{"add", Add}, {"sub", Sub}, {"rem", TruncMod}, {"and", And},
                                                                   {"or", Or},   {"xor", Xor}, {"min", Min},      {"max", Max}};
    if (name == "div")
      return b.binary(isInteger(kind) ? TruncDiv : RoundDiv, x[0], x[1]);
    if (name == "copysign")
      return b.math(MathOp::CopySign, {x[1], x[0]});
    BinaryOp operation = known(operations, name);
    if (has(each, "NaN"))
      operation = operation == Min ? MinNan : MaxNan;
    return b.binary(operation, x[0], x[1]);
  }
  if (count == 3 && name == "prmt")
    return asType(b, composed(b, "byte_perm", x), kind);
  if (count == 3 && name == "shf")
    return funnel(each, x);
  throw NotUnderstood{};
}

Value PtxProgram::funnel(const PtxInstruction &each, const std::vector<Value> &x) {
  using enum BinaryOp;
  bool wraps = has(each, "wrap");
  Value amount = b.cast(b.binary(wraps ? And : Min, x[2], Literal(int64_t(wraps ? 31 : 32))), DType::U64);
  Value high = b.binary(Shl, b.cast(x[1], DType::U64), Literal(int64_t(32)));
  Value both = b.binary(Or, high, b.cast(x[0], DType::U64));
  if (has(each, "l"))
    return b.cast(b.binary(Shr, b.binary(Shl, both, amount), Literal(int64_t(32))), DType::U32);
  return b.cast(b.binary(Shr, both, amount), DType::U32);
}

/// lop3: any function of three bits, as a table of eight.
Value PtxProgram::lookedUp(const std::vector<Value> &x, int64_t table) {
  Value result = read("0", at(x, 0).dtype());
  for (int row = 0; row < 8; ++row) {
    if (!(table >> row & 1))
      continue;
    Value term;
    for (size_t k = 0; k < x.size(); ++k) {
      Value factor = row & (4 >> k) ? x[k] : b.unary(UnaryOp::Invert, x[k]);
      term = term ? b.binary(BinaryOp::And, term, factor) : factor;
    }
    result = b.binary(BinaryOp::Or, result, term);
  }
  return result;
}

Value PtxProgram::converted(const PtxInstruction &each, DType to, DType from) {
  static const std::pair<const char *, MathOp> roundings[] = {
      {"rni", MathOp::RoundEven}, {"rzi", MathOp::Trunc}, {"rmi", MathOp::Floor}, {"rpi", MathOp::Ceil}};
  Value x = read(at(each.operands, 1), from);
  if (isFloat(from))
    for (const std::string &modifier : each.modifiers)
      if (std::optional<MathOp> rounding = lookUp(roundings, modifier)) {
        x = b.math(*rounding, {x});
        break;
      }
  bool narrows = isFloat(from) && isFloat(to) && bitWidth(to) < bitWidth(from);
  return b.cast(x, to, has(each, "rz") && narrows);
}

/// `fma.rn.f16x2 d, a, b, c`, `cvt.rn.f16x2.e4m3x2 d, a`: both numbers of a register alike.
Value PtxProgram::ofPairs(const PtxInstruction &each) {
  std::vector<std::string> words = each.modifiers;
  DType from = *pairType(words.back()), to = from;
  words.pop_back();
  bool converts = each.name == "cvt";
  if (converts) {
    std::optional<DType> result = words.empty() ? std::nullopt : pairType(words.back());
    if (!result || isFloat8(*result) == isFloat8(from) || !isFloat(*result) || !isFloat(from))
      throw NotUnderstood{};
    to = *result;
    words.pop_back();
    if (words != (isFloat8(to) ? std::vector<std::string>{"rn", "satfinite"} : std::vector<std::string>{"rn"}))
      throw NotUnderstood{};
  } else if (isFloat8(from) || !std::ranges::all_of(words, [&](const std::string &word) { return isKnown(each.name, word); })) {
    throw NotUnderstood{};
  }
  unsigned bits = bitWidth(from), resultBits = bitWidth(to);
  Value halves[2];
  for (unsigned k : {0, 1}) {
    std::vector<Value> sources;
    for (size_t n = 1; n < each.operands.size(); ++n) {
      Value pair = read(each.operands[n], unsignedOf(2 * bits));
      sources.push_back(b.bitcast(b.cast(b.binary(BinaryOp::Shr, pair, Literal(int64_t(k * bits))), unsignedOf(bits)), from));
    }
    Value result = !converts      ? arithmetic(each, from, sources)
                   : isFloat8(to) ? b.castFinite(at(sources, 0), to)
                                  : b.cast(at(sources, 0), to);
    halves[k] = b.cast(b.bitcast(result, unsignedOf(resultBits)), unsignedOf(2 * resultBits));
  }
  return b.binary(BinaryOp::Or, b.binary(BinaryOp::Shl, halves[1], Literal(int64_t(resultBits))), halves[0]);
}

/// `cvt.rn.bf16x2.f32 d, a, b`: two floats in a register, the first one in its upper half.
Value PtxProgram::packed(const PtxInstruction &each) {
  std::vector<std::string> words = each.modifiers;
  std::optional<DType> pair = words.size() < 2 ? std::nullopt : pairType(words[words.size() - 2]);
  if (!pair || !isFloat(*pair) || words.back() != "f32")
    throw NotUnderstood{};
  DType to = *pair;
  words.resize(words.size() - 2);
  bool narrow = isFloat8(to);
  if (words != (narrow ? std::vector<std::string>{"rn", "satfinite"} : std::vector<std::string>{"rn"}) &&
      (narrow || words != std::vector<std::string>{"rz"}))
    throw NotUnderstood{};
  unsigned bits = bitWidth(to);
  Value halves[2];
  for (int k : {0, 1}) {
    Value x = read(each.operands[1 + k], DType::F32);
    x = narrow ? b.castFinite(x, to) : b.cast(x, to, words[0] == "rz");
    halves[k] = b.cast(b.bitcast(x, unsignedOf(bits)), unsignedOf(2 * bits));
  }
  return b.binary(BinaryOp::Or, b.binary(BinaryOp::Shl, halves[0], Literal(int64_t(bits))), halves[1]);
}

/// Parts of a register, or a register of parts.
Value PtxProgram::moved(const PtxInstruction &each, DType kind) {
  bool parted = each.operands[0].starts_with('{');
  std::string_view list = parted ? each.operands[0] : each.operands[1];
  list = list.substr(1, list.find('}') - 1);
  std::vector<std::string> names = split(list, ',');
  unsigned bits = bitWidth(kind) / names.size();
  if (bits != 8 && bits != 16 && bits != 32)
    throw NotUnderstood{};
  if (parted) {
    Value whole = read(each.operands[1], kind);
    for (size_t k = 0; k < names.size(); ++k) {
      Value part = b.binary(BinaryOp::Shr, whole, Literal(int64_t(k * bits)));
      set(std::string(trimmed(names[k])), b.cast(part, unsignedOf(bits)));
    }
    return {};
  }
  std::vector<Value> parts;
  for (size_t k = 0; k < names.size(); ++k)
    parts.push_back(b.binary(BinaryOp::Shl, b.cast(read(names[k], unsignedOf(bits)), kind), Literal(int64_t(k * bits))));
  return joined(b, parts);
}

Value PtxProgram::memory(const PtxInstruction &each, DType kind) {
  auto place = std::ranges::find_if(each.operands, [](const std::string &operand) { return operand.starts_with('['); });
  if (place == each.operands.end())
    throw NotUnderstood{};
  beforeAccess(each.name);
  std::string_view address = *place;
  address = address.substr(1, address.find(']') - 1);
  Value pointer = b.intToPointer(read(address, DType::U64), kind);
  std::optional<Operand> mask = guard ? std::optional<Operand>(*guard) : std::nullopt;
  if (each.name == "ld")
    return b.load(pointer, mask, {});
  b.store(pointer, read(at(each.operands, 1), kind), mask);
  return {};
}

} // namespace tilery::foreign
