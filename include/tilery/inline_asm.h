#pragma once
// PTX that programs bring as text: read into instructions, and carried out on tiles in place of registers, so that every target runs it.
#include "tilery/builder.h"
#include <string_view>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// An instruction of PTX, in the words it is written with.
struct PtxInstruction {
  std::string text; ///< without its guard, single spaces between the words
  bool guarded = false;
  std::string guard; ///< the predicate behind an `@`, as `p` or `!p`
  std::string name;  ///< `setp` of `setp.lt.f32`
  std::vector<std::string> modifiers;
  std::vector<std::string> operands; ///< `{a, b}` and `[a]` are one each
};
/// The instructions of a text, without its comments and declarations. Whether there are such instructions is nothing it knows.
std::vector<PtxInstruction> readPtx(std::string_view text);

/// Triton's inline_asm_elementwise: `$0`, `$1`, .. of the text are the registers of the results, then those of the arguments.
struct InlineAsm {
  struct Result {
    DType dtype = DType::I32;
    int64_t bits = 32; ///< that an element has in a register
  };
  std::string text;
  std::string constraints; ///< of `=r,r,f`, one a register
  std::vector<Result> results{};
  int64_t pack = 1; ///< consecutive elements that it takes at a time
};
/// Called with `ld` or `st` before memory is read or written; throws where it may not be.
using BeforeAccess = std::function<void(const std::string &name)>;
/// The tiles that the text computes of the elements of others. Throws Error for what is not understood.
std::vector<Value> inlineAsm(Builder &builder, const InlineAsm &code, const std::vector<Value> &arguments,
                             const BeforeAccess &beforeAccess);

} // namespace tilery
#pragma GCC visibility pop
