// Device functions in CUDA C++, carried out statement by statement on the values of a kernel. Loads, stores, fetches and what single
// instructions compute are what they say, on every target; hints to caches fall away.
#include "compiler/foreign/ptx_program.h"
#include "compiler/foreign/text.h"
#include "tilery/cuda_text.h"
#include "tilery/counted.h"
#include <algorithm>
#include <charconv>
#include <map>

namespace tilery {
using namespace foreign;
namespace {

/// Scalars that lie side by side and are one value of C++, or parts of one, the lowest first; all have one width.
struct Bits {
  std::vector<Value> parts;
  unsigned width() const { return bitWidth(parts.front().dtype()); }
  unsigned count() const { return width() * parts.size(); }
};
/// What a cache is told.
struct CacheHint {};
/// What a variable, a register or an expression holds. Nothing: a function returned without a value.
using Held = std::variant<std::monostate, Value, Bits, CudaAddress, CacheHint>;

const std::map<std::string_view, DType> &scalarTypes() {
  using enum DType;
  static const std::map<std::string_view, DType> types{
      {"float", F32},   {"double", F64},         {"int", I32},          {"unsigned", U32}, {"unsigned int", U32},
      {"bool", Bool},   {"long long", I64},      {"size_t", U64},       {"short", I16},    {"unsigned long long", U64},
      {"char", I8},     {"unsigned short", U16}, {"unsigned char", U8}, {"int8_t", I8},    {"int16_t", I16},
      {"int32_t", I32}, {"int64_t", I64},        {"uint8_t", U8},       {"uint16_t", U16}, {"uint32_t", U32},
      {"uint64_t", U64}};
  return types;
}

struct VectorType {
  DType element;
  unsigned size;
};
std::optional<VectorType> vectorType(std::string_view name) {
  static const std::map<std::string_view, VectorType> types{{"uint2", {DType::U32, 2}},  {"uint4", {DType::U32, 4}},
                                                            {"int2", {DType::I32, 2}},   {"int4", {DType::I32, 4}},
                                                            {"float2", {DType::F32, 2}}, {"float4", {DType::F32, 4}}};
  auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

bool fitsWord(unsigned bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

class Run {
public:
  Run(Builder &builder, const CudaFunction &function, CudaCaller &caller) : b(builder), function(function), caller(caller) {
    types.insert(scalarTypes().begin(), scalarTypes().end());
  }

  Held result(const std::vector<CudaArgument> &arguments) {
    if (function.several)
      throw NotUnderstood{"several functions of this name"};
    if (!function.notUnderstood.empty())
      throw NotUnderstood{function.notUnderstood};
    std::vector<Held> values;
    for (const CudaArgument &argument : arguments)
      values.push_back(taken(argument, function.parameters[values.size()]));
    while (values.size() < function.parameters.size())
      values.push_back(value(*function.parameters[values.size()].value));
    for (size_t k = 0; k < values.size(); ++k) {
      const auto &[kind, name, _] = function.parameters[k];
      bool address = kind.ends_with('*');
      if (std::holds_alternative<CudaAddress>(values[k]) != address || (!address && !types.contains(kind)))
        throw NotUnderstood{kind + " " + name};
      variables[name] = {kind, typed(values[k], kind)};
    }
    Held found = block(function.body).value_or(Held());
    return types.contains(function.type) ? typed(found, function.type) : found;
  }

  /// Bits as numbers of a type.
  std::vector<Value> elements(const Bits &bits, DType type) {
    unsigned have = bits.width(), want = bitWidth(type);
    std::vector<Value> result;
    if (have == want) {
      for (const Value &part : bits.parts)
        result.push_back(asType(b, part, type));
      return result;
    }
    if (want < have) {
      for (const Value &part : bits.parts)
        for (unsigned shift = 0; shift < have; shift += want) {
          Value whole = asType(b, part, unsignedOf(have));
          Value low = shift ? b.binary(BinaryOp::Shr, whole, b.constant(Literal(int64_t(shift)), whole.dtype())) : whole;
          result.push_back(asType(b, low, type));
        }
      return result;
    }
    DType wide = unsignedOf(want);
    for (size_t first = 0; first + want / have <= bits.parts.size(); first += want / have) {
      std::vector<Value> shifted;
      for (unsigned place = 0; place < want / have; ++place) {
        Value part = asType(b, bits.parts[first + place], wide);
        shifted.push_back(place ? b.binary(BinaryOp::Shl, part, b.constant(Literal(int64_t(place * have)), wide)) : part);
      }
      result.push_back(asType(b, joined(b, shifted), type));
    }
    return result;
  }
  /// The same as one number, of a type or of their own.
  Value number(const Bits &bits, std::optional<DType> type) {
    if (!fitsWord(bits.count()) || (type && bitWidth(*type) != bits.count()))
      throw NotUnderstood{"a number of several registers"};
    return elements(bits, type.value_or(unsignedOf(bits.count()))).front();
  }

private:
  struct Variable {
    std::string type;
    Held held;
  };

  Held taken(const CudaArgument &argument, const CudaFunction::Parameter &parameter) {
    Held held;
    std::optional<DType> own;
    if (auto *address = std::get_if<CudaAddress>(&argument))
      held = *address, own = address->element;
    else if (auto *value = std::get_if<Value>(&argument))
      held = *value, own = value->dtype();
    else if (std::optional<DType> type = typeOf(parameter.type)) // at once: a double loses nothing
      held = b.castFinite(std::get<Literal>(argument), *type);
    else
      held = b.materialize(std::get<Literal>(argument));
    std::string kind = parameter.type.substr(0, parameter.type.find_last_not_of("*&") + 1);
    if (own && std::ranges::find(function.types, kind) != function.types.end())
      types.insert_or_assign(kind, *own);
    return held;
  }

  Held typed(const Held &held, const std::string &kind) {
    auto type = types.find(kind);
    const Value *value = std::get_if<Value>(&held);
    return type != types.end() && value ? Held(b.castFinite(*value, type->second)) : held;
  }
  std::optional<DType> typeOf(const std::string &kind) const {
    auto type = types.find(kind);
    return type == types.end() ? std::nullopt : std::optional(type->second);
  }
  template <typename T> T as(const Held &held, const std::string &text) {
    if (const T *found = std::get_if<T>(&held))
      return *found;
    throw NotUnderstood{text};
  }
  Variable &variable(const std::string &name, const std::string &text) {
    auto found = variables.find(name);
    if (found == variables.end())
      throw NotUnderstood{text};
    return found->second;
  }

  // Statements.

  /// What is returned; nothing: the statements come to their end.
  std::optional<Held> block(const CudaNode &node) {
    for (const CudaNode &statement : node.parts)
      if (std::optional<Held> returned = carriedOut(statement))
        return returned;
    return {};
  }

  std::optional<Held> carriedOut(const CudaNode &node) {
    if (node.kind == "return")
      return node.parts.empty() ? Held() : value(node.parts[0]);
    if (node.kind == "choose")
      return block(node.parts[chooses(node) ? 0 : 1]);
    if (node.kind == "block")
      return block(node);
    if (node.kind == "declare") {
      const std::string &kind = node.words[0];
      if (variables.contains(node.words[1]) || !(types.contains(kind) || vectorType(kind) || kind == "auto"))
        throw NotUnderstood{node.text}; // it hides another one, or has a type of the program's
      variables[node.words[1]] = {kind, node.parts.empty() ? Held() : typed(value(node.parts[0]), kind)};
    } else if (node.kind == "assign") {
      Variable &target = variable(node.words[0], node.text);
      target.held = typed(value(node.parts[0]), target.type);
    } else if (node.kind == "store") {
      Bits bits = as<Bits>(value(node.parts[1]), node.text);
      store(value(node.parts[0]), bits);
    } else if (node.kind == "copy") {
      copy(node);
    } else if (node.kind == "asm") {
      assembly(node);
    } else {
      value(node);
    }
    return {};
  }

  bool chooses(const CudaNode &node) {
    std::optional<DType> type = typeOf(node.words[0]);
    const int64_t *bytes = std::get_if<int64_t>(&node.number);
    if (!type || !bytes)
      throw NotUnderstood{node.text};
    int64_t size = byteWidth(*type);
    const std::string &comparison = node.words[1];
    static const char *const known[] = {"==", "!=", "<", ">", "<=", ">="};
    if (std::ranges::find(known, comparison) == std::end(known))
      throw NotUnderstood{node.text};
    bool equal = size == *bytes, less = size < *bytes;
    return comparison == "=="     ? equal
           : comparison == "!="   ? !equal
           : comparison[0] == '<' ? less || (equal && comparison == "<=")
                                  : (!less && !equal) || (equal && comparison == ">=");
  }

  void copy(const CudaNode &node) {
    const CudaNode &target = node.parts[0], &source = node.parts[1];
    int64_t bits = 8 * std::get<int64_t>(node.number);
    Held held = source.kind == "address" ? variable(source.words[0], node.text).held : Held(load(value(source), bits));
    if (const Value *single = std::get_if<Value>(&held))
      held = Bits{{*single}};
    Bits copied = as<Bits>(held, node.text);
    if (copied.count() != bits)
      throw NotUnderstood{node.text};
    if (target.kind == "address")
      set(variable(target.words[0], node.text), copied);
    else
      store(value(target), copied);
  }

  /// Bits as what a variable's type makes of them.
  void set(Variable &target, const Bits &bits) {
    target.held = vectorType(target.type) ? Held(bits) : Held(number(bits, typeOf(target.type)));
  }

  // Instructions. What registers hold that is no number, `places` has.

  void assembly(const CudaNode &node) {
    size_t results = std::get<int64_t>(node.number);
    const std::string &text = node.words[0];
    static const BeforeAccess never = [](const std::string &name) { throw NotUnderstood{name}; };
    PtxProgram program(b, {}, never);
    places.clear();
    auto name = [](size_t number) { return "%" + std::to_string(number); };
    for (size_t k = 0; k < node.parts.size(); ++k) {
      std::string_view letter = node.words[k + 1];
      if (k < results ? letter.starts_with('+') : letter.size() != 1)
        throw NotUnderstood{text};
      if (k < results)
        continue;
      Held held = value(node.parts[k]);
      if (const Value *number = std::get_if<Value>(&held))
        program.set(name(k), asRegister(*number, letter, text));
      else
        places[name(k)] = held;
    }
    for (const PtxInstruction &each : readPtx(text))
      instruction(each, program);
    std::map<std::string, std::map<int64_t, Value>> vectors;
    for (size_t k = 0; k < results; ++k) {
      const CudaNode &place = node.parts[k];
      bool part = place.kind == "part";
      if (!part && place.kind != "name")
        throw NotUnderstood{text};
      Variable &target = variable(place.words[0], text);
      if (auto other = places.find(name(k)); other != places.end()) {
        target.held = other->second;
        continue;
      }
      std::optional<VectorType> vector = vectorType(target.type);
      std::optional<DType> type = part && vector ? std::optional(vector->element) : typeOf(target.type);
      if (!program.holds(name(k)) || !type || part != vector.has_value())
        throw NotUnderstood{text};
      Value result = program.read(name(k), *type);
      if (part)
        vectors[place.words[0]][std::get<int64_t>(place.number)] = result;
      else
        target.held = result;
    }
    for (const auto &[vector, parts] : vectors) {
      Bits whole;
      for (const auto &[place, value] : parts)
        whole.parts.push_back(value);
      if (whole.parts.size() != vectorType(variables[vector].type)->size)
        throw NotUnderstood{text};
      variables[vector].held = whole;
    }
  }

  /// A number of C++ in the register that a constraint asks for. A literal's (`n`) is that of its type.
  Value asRegister(const Value &number, std::string_view letter, const std::string &text) {
    std::optional<DType> type = registerOf(letter);
    if (letter == "n" || (type && bitWidth(*type) == bitWidth(number.dtype())))
      return number;
    if (!type || isFloat(*type) || isFloat(number.dtype()))
      throw NotUnderstood{text};
    return b.cast(number, *type);
  }

  void instruction(const PtxInstruction &each, PtxProgram &program) {
    std::string mnemonic = each.name;
    for (const std::string &modifier : each.modifiers)
      mnemonic += "." + modifier;
    auto has = [&](const char *word) { return std::ranges::find(each.modifiers, word) != each.modifiers.end(); };
    auto begins = [&](std::string_view with) {
      return mnemonic.starts_with(with) && (mnemonic.size() == with.size() || !isWord(mnemonic[with.size()]));
    };
    if (begins("prefetch") || begins("prefetchu") || begins("cp.async.bulk.prefetch") || begins("applypriority"))
      return;
    static const char *const ordered[] = {"volatile", "relaxed", "acquire", "release", "acq_rel",
                                          "mmio",     "async",   "bulk",    "const",   "param"};
    bool memory = each.name == "ld" || each.name == "st", copies = has("async") && (has("ca") || has("cg")) && each.name == "cp";
    if (!memory && !copies && each.name != "createpolicy")
      return program.run(each);
    if (each.guarded || (memory && std::ranges::any_of(ordered, has)))
      throw NotUnderstood{each.text};
    if (each.name == "createpolicy" && !each.operands.empty())
      places[each.operands[0]] = CacheHint();
    else if (memory && each.operands.size() >= 2)
      access(each, program);
    else if (copies && each.operands.size() >= 3)
      copyAhead(each);
    else
      throw NotUnderstood{each.text};
  }

  void copyAhead(const PtxInstruction &each) {
    const std::string &size = each.operands[2];
    unsigned bytes = 0;
    auto [end, problem] = std::from_chars(size.data(), size.data() + size.size(), bytes);
    bool sized = problem == std::errc() && end == size.data() + size.size() && bytes <= 16;
    for (size_t k = 3; k < each.operands.size(); ++k) { // how many bytes are read, where one says so
      auto place = places.find(each.operands[k]);
      sized &= place != places.end() && std::holds_alternative<CacheHint>(place->second);
    }
    if (!sized)
      throw NotUnderstood{each.text};
    Bits bits = load(address(each.operands[1], each.text), 8 * bytes);
    store(address(each.operands[0], each.text), bits);
  }

  Held address(std::string_view operand, const std::string &text) {
    size_t first = operand.find_first_not_of("[ "), last = operand.find_last_not_of("] ");
    auto found = first > last ? places.end() : places.find(std::string(operand.substr(first, last - first + 1)));
    if (found == places.end())
      throw NotUnderstood{text};
    return found->second;
  }

  void access(const PtxInstruction &each, PtxProgram &program) {
    std::optional<DType> type = each.modifiers.empty() ? std::nullopt : ptxType(each.modifiers.back());
    unsigned count = 1;
    for (const std::string &modifier : each.modifiers)
      if (modifier == "v2" || modifier == "v4" || modifier == "v8")
        count = modifier[1] - '0';
    bool loads = each.name == "ld";
    std::string_view list = each.operands[loads ? 0 : 1];
    if (list.starts_with('{') && list.ends_with('}'))
      list = list.substr(1, list.size() - 2);
    std::vector<std::string> names = split(list, ',');
    if (!type || isBool(*type) || names.size() != count)
      throw NotUnderstood{each.text};
    if (!loads) {
      Bits stored;
      for (const std::string &name : names)
        stored.parts.push_back(program.read(name, *type));
      return store(address(each.operands[0], each.text), stored);
    }
    Bits loaded = load(address(each.operands[1], each.text), bitWidth(*type) * count);
    std::vector<Value> values = elements(loaded, *type);
    for (size_t k = 0; k < names.size(); ++k)
      program.set(std::string(trimmed(names[k])), values[k]);
  }

  // Memory.

  CudaAddress accessed(const Held &held, unsigned bits, const char *what) {
    CudaAddress address = as<CudaAddress>(held, what);
    unsigned width = bitWidth(address.element);
    if (!fitsWord(width) || !bits || bits % width)
      throw NotUnderstood{what};
    return address;
  }
  Bits load(const Held &held, unsigned bits) {
    CudaAddress address = accessed(held, bits, "a load");
    return {caller.load(address, bits / bitWidth(address.element))};
  }
  void store(const Held &held, const Bits &bits) {
    CudaAddress address = accessed(held, bits.count(), "a store");
    caller.store(address, elements(bits, address.element));
  }

  // Expressions.

  Held value(const CudaNode &node) {
    const std::string &kind = node.kind;
    if (kind == "name") {
      Held held = variable(node.text, node.text).held;
      if (std::holds_alternative<std::monostate>(held))
        throw NotUnderstood{node.text};
      return held;
    }
    if (kind == "part") {
      Variable &whole = variable(node.words[0], node.text);
      std::optional<VectorType> vector = vectorType(whole.type);
      int64_t place = std::get<int64_t>(node.number);
      if (!vector || place >= vector->size)
        throw NotUnderstood{node.text};
      std::vector<Value> parts = elements(as<Bits>(whole.held, node.text), vector->element);
      if (parts.size() != vector->size)
        throw NotUnderstood{node.text};
      return parts[place];
    }
    if (kind == "integer")
      return b.constant(Literal(std::get<int64_t>(node.number)), parseDType(node.words[0]).value_or(DType::I32));
    if (kind == "float")
      return b.constant(Literal(std::get<double>(node.number)), *parseDType(node.words[0]));
    if (kind == "static_cast" && types.contains(node.words[0]))
      return typed(Held(as<Value>(value(node.parts[0]), node.text)), node.words[0]);
    if (kind == "reinterpret_cast" && node.words[0].ends_with('*'))
      return as<CudaAddress>(value(node.parts[0]), node.text);
    if (kind == "load") {
      std::optional<VectorType> vector = vectorType(node.words[0]);
      std::optional<DType> scalar = typeOf(node.words[0]);
      if (!vector && !scalar)
        throw NotUnderstood{node.words[0]};
      Held pointer = value(node.parts[0]);
      if (vector)
        return load(pointer, bitWidth(vector->element) * vector->size);
      return number(load(pointer, bitWidth(*scalar)), scalar);
    }
    if (kind == "call")
      return called(node);
    if (kind == "binary")
      return computed(node);
    throw NotUnderstood{node.text};
  }

  Held called(const CudaNode &node) {
    const std::string &name = node.words[0];
    std::vector<Held> held;
    for (const CudaNode &part : node.parts)
      held.push_back(value(part));
    bool converts = name == "__cvta_generic_to_shared" || name == "__cvta_generic_to_global";
    if (converts && !held.empty() && std::holds_alternative<CudaAddress>(held[0]))
      return held[0];
    std::vector<Value> operands;
    for (const Held &operand : held)
      operands.push_back(as<Value>(operand, name));
    if (Value result = caller.call(name, operands))
      return result;
    throw NotUnderstood{name};
  }

  /// In the type in which C computes: at least int, unsigned where one of the widest is, the wider float.
  Held computed(const CudaNode &node) {
    static const std::pair<const char *, BinaryOp> operations[] = {
        {"+", BinaryOp::Add}, {"-", BinaryOp::Sub}, {"*", BinaryOp::Mul}};
    static constexpr DType order[] = {DType::I32, DType::U32, DType::I64, DType::U64, DType::F32, DType::F64};
    Value operands[2];
    DType common = DType::I32;
    for (size_t k : {0, 1}) {
      operands[k] = as<Value>(value(node.parts[k]), node.text);
      DType own = operands[k].dtype();
      if (bitWidth(own) < 32 && !isFloat(own))
        own = DType::I32;
      auto place = std::ranges::find(order, own);
      if (place == std::end(order))
        throw NotUnderstood{node.text};
      common = *std::max(place, std::ranges::find(order, common));
    }
    for (const auto &[sign, operation] : operations)
      if (node.words[0] == sign)
        return b.binary(operation, b.cast(operands[0], common), b.cast(operands[1], common));
    throw NotUnderstood{node.text};
  }

  Builder &b;
  const CudaFunction &function;
  CudaCaller &caller;
  std::map<std::string, DType, std::less<>> types; // with those of the template
  std::map<std::string, Variable> variables;
  std::map<std::string, Held> places;
};

} // namespace

Value callCuda(Builder &builder, const CudaFunction &function, const std::vector<CudaArgument> &arguments,
               std::optional<DType> dtype, CudaCaller &caller) {
  size_t most = function.parameters.size();
  size_t least = std::ranges::count_if(function.parameters, [](const auto &parameter) { return !parameter.value; });
  if (arguments.size() < least || arguments.size() > most)
    builder.fail(Diagnostic::Kind::Type, function.name + " takes " + (least < most ? std::to_string(least) + " to " : "") +
                                             counted(most, "argument") + ", got " + std::to_string(arguments.size()));
  try {
    Run run(builder, function, caller);
    Held held = run.result(arguments);
    if (const Bits *bits = std::get_if<Bits>(&held))
      return run.number(*bits, dtype);
    if (std::holds_alternative<std::monostate>(held))
      return {};
    if (const Value *value = std::get_if<Value>(&held))
      return *value;
    throw NotUnderstood{"the result"};
  } catch (const NotUnderstood &unknown) {
    builder.fail(Diagnostic::Kind::NotImplemented,
                 function.name + " is text of CUDA in which `" + unknown.text + "` is not understood",
                 "write it with functions of T: text of another language cannot be compiled for every target");
  }
}

} // namespace tilery
