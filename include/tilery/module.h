#pragma once
// A module of tile IR outside of MLIR: text, hash, and what compilers and the oracle take. Threads may share one: each call on it
// waits for the others.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {
class Module {
public:
  struct [[gnu::visibility("hidden")]] Impl; ///< holds the MLIR context and module: compiler/builder/module_impl.h
  explicit Module(std::unique_ptr<Impl> impl);
  ~Module();
  Impl &get() { return *impl; }
  /// The tile IR as text; with locations, and with no other hints (builder.h) than these, on request.
  std::string text(bool locations = false, const std::optional<std::vector<std::string>> &hints = {}) const;
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
#pragma GCC visibility pop
