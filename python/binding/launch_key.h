#pragma once
// What a compilation depends on: the specialisation of a launch.
#include "launch_args.h"
#include <span>
#include <string>
#include <vector>

namespace tilery::python {

struct Parameter {
  enum Kind : uint8_t { Runtime, Plain, Constexpr, Option };
  PyObject *name;   ///< interned
  const char *text; ///< the name
  Kind kind;
  PyObject *defaultValue; ///< null: none
  bool compileTime() const { return kind >= Constexpr; }
};

/// Everything of a run-time argument that key and launch flags are computed from, as plain words: equal facts, equal key.
void appendFacts(const Argument &argument, std::vector<uint64_t> &facts);
/// The same of a compile-time argument, for as long as `object` lives: an int counts as its value, others as what they are.
void appendConstant(PyObject *object, size_t parameter, std::vector<uint64_t> &facts);

struct AliasPair {
  uint8_t first, second;
  Alias alias;
};
/// Pairs of tensor arguments that share bytes.
std::vector<AliasPair> aliasPairs(const Argument *arguments, size_t count);

/// A list, dict or set: another value another time, though it is the same object.
inline bool isChangeable(PyObject *value) { return PyList_Check(value) || PyDict_Check(value) || PyAnySet_Check(value); }

/// Numbers compile-time values by equality and type, so that a key can name them.
class ConstantTable {
public:
  ConstantTable();
  ~ConstantTable();
  ConstantTable(const ConstantTable &) = delete;
  /// Throws Error if `value` cannot be compared (is not hashable).
  uint32_t number(PyObject *value, const char *name);
  PyObject *dictionary() const { return ids; } ///< for the garbage collector

private:
  PyObject *ids;
};

/// The specialisation as bytes. layout: rank, extents and strides are part of it. Options beyond `arguments` are at their defaults.
std::string specialisationKey(std::span<const Argument> arguments, const std::vector<Parameter> &parameters,
                              const std::vector<AliasPair> &aliases, bool layout, ConstantTable &constants);
/// The same for the compile callback: (params, aliases), new references. See docs/reference/python.md.
PyObject *signatureParams(const Argument *arguments, const std::vector<Parameter> &parameters, bool layout);
PyObject *signatureAliases(const std::vector<AliasPair> &aliases);

} // namespace tilery::python
