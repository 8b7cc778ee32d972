#pragma once
// Kernels in block IR, as they are and with lines changed.
#include "program.h"

namespace tilery::oracle {

/// Replaces one occurrence of each text by another.
using Edits = std::vector<std::pair<std::string, std::string>>;
inline std::string edited(std::string text, const Edits &edits) {
  for (const auto &[from, to] : edits) {
    size_t at = text.find(from);
    if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
      throw std::runtime_error("not once in the program: " + from);
    text.replace(at, from.size(), to);
  }
  return text;
}

inline std::string lineOf(const std::string &text, int line) {
  size_t at = 0;
  while (--line > 0)
    at = text.find('\n', at) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

/// What the oracle has against the program, and the line of the program that it names; empty: nothing.
struct Report {
  std::string message, line;
};
inline Report runBlockProgram(const std::string &text, std::array<uint32_t, 3> grid, std::vector<uint64_t> args, bool late,
                              bool verify = true) {
  Options options;
  options.late = late;
  options.maxSteps = 1000000;
  try {
    Program(text, verify).run(grid, args, options);
    return {};
  } catch (const Error &error) {
    const Diagnostic &d = error.diagnostic();
    return {d.message, d.chain.empty() ? "" : lineOf(text, d.chain[0].line)};
  }
}

} // namespace tilery::oracle
