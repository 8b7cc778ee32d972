#pragma once
// Warps of programs: the threads of `tile.threads` that shuffle, vote and multiply together. How many these are belongs to what a program
// means, so that it is the same on machines whose own threads run in groups of another size, or in none.
namespace tilery::tile {

constexpr unsigned warpLanes = 32;

} // namespace tilery::tile
