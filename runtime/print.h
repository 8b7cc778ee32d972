#pragma once
#include "tilery/abi.h"
#include <span>
#include <string>

namespace tilery {

/// "(1, 0, 2)": the coordinates of program `pid` of a grid.
std::string programName(const uint32_t grid[3], int64_t pid);

/// What a program prints as Triton's GPU prints it, a line an element: "pid (0, 0, 0) idx (1,  3) x: 7".
std::string printedLines(const TileryLaunch &launch, int64_t pid, const std::string &prefix, bool hex,
                         std::span<const TileryPrinted> values);

/// As Triton prints it on CPUs, whole tiles, eight elements of a row a line: "(0, 0, 0) x: [1, 2, 3]".
std::string printedTiles(const TileryLaunch &launch, int64_t pid, const std::string &prefix, bool hex,
                         std::span<const TileryPrinted> values);

/// Writes the text of one call to the standard output, in one piece.
void writePrinted(const std::string &text);

} // namespace tilery
