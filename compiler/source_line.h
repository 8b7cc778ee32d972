#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tilery {
/// A SourceLineFinder (tilery/crash_report.h) that reads the object's line table.
std::string sourceLine(std::string_view object, uint64_t address);
} // namespace tilery
