#pragma once
// The common instructions of PTX, each as the operation it is, on tiles in place of registers.
#include "tilery/inline_asm.h"

namespace tilery::foreign {

/// What no operation is known for, as the program writes it.
struct NotUnderstood {
  std::string text;
};

class PtxProgram {
public:
  /// Registers are tiles of a shape.
  PtxProgram(Builder &builder, Shape shape, const BeforeAccess &beforeAccess)
      : b(builder), shape(std::move(shape)), beforeAccess(beforeAccess) {}

  /// Throws NotUnderstood.
  void run(const PtxInstruction &instruction);
  void set(const std::string &name, const Value &value);
  bool holds(std::string_view name) const;
  /// What a register holds, or a number, as a type.
  Value read(std::string_view operand, DType dtype);

private:
  struct Register {
    std::string name;
    Value value;
    bool fresh = false; ///< set by the instruction that is running
  };

  void guarded(const PtxInstruction &instruction);
  void instruction(const PtxInstruction &instruction);
  /// What the instruction gives its first operand; null: nothing more.
  Value value(const PtxInstruction &instruction);
  Value compared(const PtxInstruction &instruction, DType kind);
  Value arithmetic(const PtxInstruction &instruction, DType kind, const std::vector<Value> &x);
  Value funnel(const PtxInstruction &instruction, const std::vector<Value> &x);
  Value lookedUp(const std::vector<Value> &x, int64_t table);
  Value converted(const PtxInstruction &instruction, DType to, DType from);
  Value packed(const PtxInstruction &instruction);
  Value ofPairs(const PtxInstruction &instruction);
  Value moved(const PtxInstruction &instruction, DType kind);
  Value memory(const PtxInstruction &instruction, DType kind);
  Value special(std::string_view name);
  Value number(std::string_view text, DType dtype);
  Value bitsOf(uint64_t number, DType dtype);
  Register *find(std::string_view name);

  Builder &b;
  Shape shape;
  const BeforeAccess &beforeAccess;
  std::vector<Register> registers; // in the order in which they were first set
  std::optional<Value> guard;      // of the instruction: where it is false it does nothing
};

/// The type of the register that a constraint's letter names.
std::optional<DType> registerOf(std::string_view letter);
/// The element type that instructions name: `f32`, `b16`.
std::optional<DType> ptxType(std::string_view word);
/// An integer without a sign, of so many bits.
DType unsignedOf(unsigned bits);
/// The bits of a register, or its lower ones, as a type.
Value asType(Builder &b, const Value &value, DType dtype);
/// The bits of several, which do not overlap.
Value joined(Builder &b, const std::vector<Value> &parts);

} // namespace tilery::foreign
