#pragma once
// What the report of a crash inside a kernel says beside the kernel's name.
#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {
/// "file.py:12" of the code at `address`, empty if unknown. `object` is an ELF object whose sections carry the addresses they were
/// loaded at. Called by a signal handler for a fault in generated code, so it may allocate.
using SourceLineFinder = std::string (*)(std::string_view object, uint64_t address);
/// The compiler library, which can read debug information, sets its own; without one a report names the kernel only.
void setSourceLineFinder(SourceLineFinder finder);
} // namespace tilery
#pragma GCC visibility pop
