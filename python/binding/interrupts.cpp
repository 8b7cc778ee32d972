#include "interrupts.h"
#include "ending.h"
#include <pthread.h>
#include <unistd.h>

namespace tilery::python {
namespace {
thread_local bool isMain = gettid() == getpid();

/// The thread that forked is its child's main thread.
[[maybe_unused]] const int watched = pthread_atfork(nullptr, nullptr, [] { isMain = true; });
} // namespace

void Released::takeBack() {
  Compiling::parkAtEnd();
  untilEnd([&] { PyEval_RestoreThread(state); });
}

bool (*Released::interrupted())(void *) {
  if (!isMain)
    return nullptr;
  return [](void *pointer) {
    auto *released = static_cast<Released *>(pointer);
    released->takeBack();
    bool raised = untilEnd([] { return PyErr_CheckSignals(); }) != 0;
    released->state = PyEval_SaveThread();
    return raised;
  };
}

} // namespace tilery::python
