#pragma once
// Which threads compile. A fork copies what they hold, and a process that ends destroys what they use: both wait for them.

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// A stretch in which the calling thread compiles, or does what belongs to it; may be nested.
class Compiling {
public:
  /// Waits while another thread holds compilations.
  Compiling();
  ~Compiling();
  Compiling(const Compiling &) = delete;

  /// Where the process ends, the calling thread stops for ever. Compilations ask between two steps.
  static void parkAtEnd();
  /// The calling thread stops for ever, and counts as one that does not compile.
  [[noreturn]] static void park();
};

/// Waits until no other thread compiles, for at most `milliseconds`; none begins to before `releaseCompilations`.
void holdCompilations(int milliseconds);
void releaseCompilations();
/// Did other threads compile when this process was forked off? What they held is held for ever here, and the compiler cannot be used.
bool forkedAmidCompilations();
/// The process ends: threads that compile stop at their next step. Waits for that, for at most `milliseconds`.
void endCompilations(int milliseconds);

} // namespace tilery
#pragma GCC visibility pop
