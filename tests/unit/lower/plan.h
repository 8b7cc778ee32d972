#pragma once
// Plans of small kernels, as text that says what was decided and nothing else, and their code.
#include "tests/unit/targets/cpu/run_kernel.h"

namespace tilery::test {

/// tile.kernel @k over %x, %y, %o, %q: !tile.ptr<f32> and %n: i64, with the accesses %ax, %ay, %ao, %aq of their first 64 elements below %n.
inline std::string overRows(const std::string &body) {
  std::string text = "tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>, %q: !tile.ptr<f32>, %n: i64) {\n"
                     "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n";
  for (std::string name : {"x", "y", "o", "q"})
    text += "  %a" + name + " = tile.access %" + name +
            ", %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>\n";
  return text + body + "  tile.return\n}\n";
}
/// %result = load of the access, of 64 elements.
inline std::string load(const std::string &result, const std::string &access) {
  return "  %" + result + " = tile.load %" + access + " : !tile.access<64xf32> -> tensor<64xf32>\n";
}
inline std::string store(const std::string &access, const std::string &value) {
  return "  tile.store %" + access + ", %" + value + " : !tile.access<64xf32>, tensor<64xf32>\n";
}
/// %result = op of 64 elements, "arith.addf" or "math.exp".
inline std::string apply(const std::string &result, const std::string &op, const std::string &operands) {
  return "  %" + result + " = " + op + " " + operands + " : tensor<64xf32>\n";
}
inline std::string total(const std::string &result, const std::string &value) {
  return "  %" + result + " = tile.reduce %" + value +
         " axis 0 {\n  ^bb0(%l: f32, %r: f32):\n    %s = arith.addf %l, %r : f32\n    tile.yield %s : f32\n  } : tensor<64xf32> "
         "-> f32\n";
}

inline cpu::Options planOptions(const char *target = "avx512", bool disjoint = false) {
  cpu::Options options;
  options.target = *cpu::findTarget(target);
  options.disjoint = disjoint;
  options.wantPlan = true;
  return options;
}

/// The LLVM IR of a kernel whose arguments do not overlap.
inline std::string llvmOf(const std::string &text, const char *target = "avx512") {
  cpu::Options options = planOptions(target, true);
  options.wantLLVM = true;
  options.lineTables = false;
  Compiled compiled = compileText(text, options);
  EXPECT_EQ(compiled.errors, "");
  return compiled.code.llvm;
}

/// The plan's steps, one a line, nests with what they make ("nest 64: define #0, store"); scalar code and names are left out.
inline std::string stepsOf(const std::string &text, const cpu::Options &options = planOptions()) {
  Compiled compiled = compileText(text, options);
  if (compiled.code.plan.empty())
    return compiled.errors;
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(compiled.code.plan).split(lines, '\n', -1, false);
  std::string steps;
  bool inNest = false, first = true;
  for (llvm::StringRef line : llvm::drop_begin(lines)) {
    size_t indent = line.find_first_not_of(' ');
    line = line.drop_front(indent);
    if (line.starts_with("#"))
      continue;
    bool sink = line.starts_with("define") || line.starts_with("store") || line.starts_with("buffer_store") ||
                line.starts_with("copy") || line.starts_with("reduce") || line.starts_with("update");
    if (sink && inNest) {
      llvm::SmallVector<llvm::StringRef> words;
      line.split(words, ' ', -1, false);
      steps += (first ? ": " : ", ") + words[0].str();
      for (llvm::StringRef word : words)
        if (word.starts_with("#"))
          steps += " " + word.str();
      first = false;
      continue;
    }
    inNest = line.starts_with("nest");
    first = true;
    llvm::StringRef op = line.contains(" = ") ? line.split(" = ").second : line;
    if (op.starts_with("arith.") || op.starts_with("tile.program_id"))
      continue;
    steps += (steps.empty() ? "" : "\n") + std::string(indent - 2, ' ') + op.split(':').first.split(" rows").first.str();
  }
  return steps;
}

} // namespace tilery::test
