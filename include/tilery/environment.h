#pragma once
// The environment variables that Tilery reads: one table, which says what each may hold, and the one way to read them.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

struct EnvironmentVariable {
  const char *name;
  const char *takes;              ///< what it may hold, in words
  const char *meaning;            ///< for docs/reference/environment.md, in Markdown
  bool (*fits)(std::string_view); ///< whether a text that is not empty may stand in it
};

/// All that there are, by name.
std::span<const EnvironmentVariable> environmentVariables();

/// What stands in a variable of the table; nothing where it is not set. Throws Error (Value), which names the variable, its text and what it
/// takes, where the text is neither empty nor one of those. The variable is read each time.
std::optional<std::string> environmentText(std::string_view name);
/// Of a switch: is it on? Not if it is unset or empty. Throws as environmentText.
bool environmentSwitch(std::string_view name);
/// Of a number; nothing where it is unset or empty. Throws as environmentText.
std::optional<uint64_t> environmentNumber(std::string_view name);

/// Throws as environmentText for the first variable of the table with a text that it does not take: what nobody reads today is wrong, too.
/// The first call names on stderr, once for the process, every other variable that begins with TILERY_, with the nearest known name.
void checkEnvironment();
/// The latter alone.
void warnOfUnknownVariables();

} // namespace tilery
#pragma GCC visibility pop
