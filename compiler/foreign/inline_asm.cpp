// inline_asm_elementwise: elements packed into registers, the program, and elements of its registers.
#include "compiler/foreign/ptx_program.h"
#include "compiler/foreign/text.h"
#include <algorithm>
#include <map>

namespace tilery {
using namespace foreign;
namespace {

int64_t elementsOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// A run of the code: what its parts ask for.
class Packing {
public:
  Packing(Builder &b, const InlineAsm &code) : b(b), code(code) {
    for (const std::string &part : split(code.constraints, ',')) {
      std::string_view letter = trimmed(part);
      if (letter.empty())
        continue;
      letter.remove_prefix(std::min(letter.find_first_not_of("=&"), letter.size()));
      letters.emplace_back(letter);
    }
  }

  /// Whether the text is to have an argument's number in place of a register.
  bool isImmediate(size_t number) const { return number < letters.size() && (letters[number] == "n" || letters[number] == "i"); }

  DType constraint(size_t number) {
    std::optional<DType> found = number < letters.size() ? registerOf(letters[number]) : std::nullopt;
    if (!found)
      b.fail(Diagnostic::Kind::Value, "constraint " + std::to_string(number) + " of '" + code.constraints + "' names no register",
             "known: r, f, h, l, d; n and i for numbers that are known");
    return *found;
  }

  /// Each `pack`-th element of a tile of one dimension, from each start.
  std::vector<Value> columns(const Value &tile, int64_t pack) {
    if (pack == 1)
      return {tile};
    auto [even, odd] = b.split(b.reshape(tile, {elementsOf(tile.shape()) / 2, 2}));
    std::vector<Value> evens = columns(even, pack / 2), odds = columns(odd, pack / 2), result;
    for (size_t k = 0; k < evens.size(); ++k)
      result.insert(result.end(), {evens[k], odds[k]});
    return result;
  }

  /// The inverse of `columns`.
  Value interleaved(const std::vector<Value> &parts) {
    if (parts.size() == 1)
      return parts.front();
    std::vector<Value> evens, odds;
    for (size_t k = 0; k < parts.size(); ++k)
      (k % 2 ? odds : evens).push_back(parts[k]);
    Value even = interleaved(evens), odd = interleaved(odds);
    Value both = b.join(even, odd);
    return b.reshape(both, {elementsOf(both.shape())});
  }

  /// The registers of `pack` consecutive elements.
  std::vector<Value> registers(Value value, DType type) {
    if (value.type.pointer)
      value = b.bitcast(b.pointerToInt(value), DType::U64);
    int64_t bits = std::max(bitWidth(value.dtype()), 8u);
    std::vector<Value> parts = columns(value, code.pack);
    if (bits >= 32 || code.pack == 1 || bitWidth(type) == bits) {
      for (Value &part : parts)
        part = asType(b, part, type);
      return parts;
    }
    for (Value &part : parts)
      part = b.cast(asType(b, part, unsignedOf(bits)), DType::U32);
    int64_t each = 32 / bits;
    for (int64_t k = 0; k < code.pack; ++k)
      parts[k] = b.binary(BinaryOp::Shl, parts[k], Literal(bits * (k % each)));
    std::vector<Value> result;
    for (int64_t k = 0; k < code.pack; k += each)
      result.push_back(joined(b, {parts.begin() + k, parts.begin() + std::min(k + each, code.pack)}));
    return result;
  }

  /// How many registers a result takes.
  int64_t count(const InlineAsm::Result &result) const {
    return result.bits < 32 ? std::max<int64_t>(code.pack * std::max<int64_t>(result.bits, 8) / 32, 1) : code.pack;
  }

  Value result(const InlineAsm::Result &result, const std::vector<Value> &registers) {
    int64_t bits = std::max<int64_t>(result.bits, 8), each = code.pack / int64_t(registers.size());
    std::vector<Value> parts;
    for (int64_t k = 0; k < code.pack; ++k) {
      Value held = registers[k / each];
      if (each > 1)
        held = b.binary(BinaryOp::Shr, held, Literal(bits * (k % each)));
      parts.push_back(asType(b, held, result.dtype));
    }
    return interleaved(parts);
  }

private:
  Builder &b;
  const InlineAsm &code;
  std::vector<std::string> letters;
};

} // namespace

std::vector<Value> inlineAsm(Builder &b, const InlineAsm &code, const std::vector<Value> &arguments,
                             const BeforeAccess &beforeAccess) {
  if (code.pack < 1 || (code.pack & (code.pack - 1)))
    b.fail(Diagnostic::Kind::Value, "pack must be a power of two, got " + std::to_string(code.pack));
  Shape sizes;
  for (const Value &argument : arguments)
    sizes = b.broadcast({argument, b.full(sizes, Literal(int64_t(0)), DType::I32)})[0].shape();
  int64_t lanes = elementsOf(sizes);
  if (lanes % code.pack)
    b.fail(Diagnostic::Kind::Value,
           "a tile of " + std::to_string(lanes) + " elements cannot be taken " + std::to_string(code.pack) + " at a time");

  Packing packing(b, code);
  PtxProgram program(b, {lanes / code.pack}, beforeAccess);
  auto name = [](size_t number) { return "$" + std::to_string(number); };
  size_t number = 0;
  for (const InlineAsm::Result &result : code.results)
    number += packing.count(result);
  std::map<std::string, std::string> immediates;
  for (const Value &argument : arguments) {
    if (packing.isImmediate(number)) {
      std::optional<int64_t> known = b.knownNumber(argument);
      if (!known)
        b.fail(Diagnostic::Kind::Value,
               "constraint " + std::to_string(number) + " of '" + code.constraints +
                   "' asks for a number that is known, and its argument is computed",
               "give a number, or write r for a register");
      immediates[name(number++)] = std::to_string(*known);
      continue;
    }
    Value flat = sizes.empty() ? b.reshape(argument, {1}) : b.reshape(b.broadcastTo(argument, sizes), {lanes});
    for (const Value &value : packing.registers(flat, packing.constraint(number)))
      program.set(name(number++), value);
  }
  for (PtxInstruction instruction : readPtx(code.text)) {
    for (std::string &operand : instruction.operands)
      if (auto known = immediates.find(operand); known != immediates.end())
        operand = known->second;
    try {
      program.run(instruction);
    } catch (const NotUnderstood &unknown) {
      b.fail(Diagnostic::Kind::NotImplemented,
             "the instruction `" + unknown.text + "` of inline_asm_elementwise is not understood",
             "write it with functions of tl: they compile for every target");
    }
  }

  std::vector<Value> results;
  number = 0;
  for (const InlineAsm::Result &result : code.results) {
    DType type = packing.constraint(number);
    std::vector<Value> registers;
    for (int64_t k = 0; k < packing.count(result); ++k)
      registers.push_back(program.read(name(number++), type));
    results.push_back(b.reshape(packing.result(result, registers), sizes));
  }
  return results;
}

} // namespace tilery
