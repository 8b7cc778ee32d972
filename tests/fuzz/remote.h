#pragma once
// A program on another machine, or an emulated one: a process of tests/aarch64/runner.c, which is asked by pipes.
#include "program.h"
#include "tilery/runtime.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tilery::fuzz {

/// What starts the process, words with blanks between them. Empty: code runs in this one.
inline std::string remoteCommand;

/// Runs the image's only kernel on `arrays`, which receive what it left. Returns what is wrong, or an empty string. Throws Error where the
/// process cannot be started.
std::string runRemotely(const Program &program, const CodeImage &image, bool disjoint, std::vector<std::vector<uint8_t>> &arrays);

} // namespace tilery::fuzz
