#pragma once
// A module of tile IR outside of MLIR: text, hash, and what compilers and the oracle take. Threads may share one: each call on it
// waits for the others.
#include <memory>
#include <string>
#include <vector>

namespace tilery {
class Module {
public:
  struct Impl; ///< holds the MLIR context and module: compiler/builder/module_impl.h
  explicit Module(std::unique_ptr<Impl> impl);
  ~Module();
  Impl &get() { return *impl; }
  /// The tile IR as text; with locations and without hints (builder.h) on request.
  std::string text(bool locations = false, bool hints = true) const;
  /// Parses tile IR text; throws Error.
  static std::shared_ptr<Module> parse(const std::string &text);
  std::vector<std::string> kernelNames() const;
  /// Keeps its memory for ever: who worked on it crashed.
  void abandon() { abandoned = true; }

private:
  std::unique_ptr<Impl> impl;
  bool abandoned = false;
};
} // namespace tilery
