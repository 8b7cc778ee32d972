#pragma once
// Native code without the GIL that a signal may end.
#include <Python.h>

namespace tilery::python {

/// Releases the GIL from its construction to its end.
class Released {
public:
  Released() : state(PyEval_SaveThread()) {}
  ~Released() { takeBack(); }
  Released(const Released &) = delete;
  /// For launches and compilations on this thread: runs the handlers of signals that have come; true: one raised a Python exception, which is
  /// set. Null on threads where Python runs none: only the main thread's work is interrupted.
  static bool (*interrupted())(void *released);

private:
  /// Where the interpreter ends or has ended, the thread stops here for ever: Python would unwind its stack, through frames that expect to
  /// go on.
  void takeBack();
  PyThreadState *state;
};

} // namespace tilery::python
