#pragma once
// A fuzzer of a reader: each program defines both functions.
#include <string>
#include <string_view>
#include <vector>

namespace tilery::readers {
/// Inputs to begin with, made by what writes them for users.
std::vector<std::string> seeds();
/// Reads the bytes and uses what comes of them, short of running it. An Error is an answer; whatever else is thrown is a defect, as is what
/// the sanitizers report.
void read(std::string_view bytes);
/// Ends the program, as a defect of the reader.
[[noreturn]] void defect(const std::string &what);
} // namespace tilery::readers
