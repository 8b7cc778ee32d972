#pragma once
// Launches that somebody takes down while a program makes them, to make them again: graphs under the device rule.
#include "launch_structured.h"
#include <atomic>

namespace tilery::python {

inline std::atomic<int> recorders =
    0; ///< threads that take down their launches: launches of programs without any look here alone

/// Calls what this thread's record_launches was given, with (launcher, grid or None, [arguments], {name: argument}); the launches that
/// this makes are not taken down. False: nothing was given.
bool recordLaunch(PyObject *launcher, const PythonCall &call, PyObject *&result);

/// What this thread's launches are to call in their place (ask_launches); no object: nothing.
nanobind::object launchAsker();
} // namespace tilery::python
