#pragma once
// What a choice of block sizes makes programs do, in terms that any target can price, and the search for the cheapest one.
#include "tilery/arrange.h"

namespace tilery::arrange {

/// An argument's innermost tiles under a choice of sizes.
struct Tiles {
  int64_t elements, row, elementBytes; // row: elements of the last dimension, one run of addresses
  double visits;                       // tiles that a program goes through
  bool many;                           // there is a level of such tiles, of one at least
  double tensorBytes = 0;              // of all of the argument; 0: not known
  double bytes() const { return double(elements * elementBytes); }
  double rows() const { return double(elements / row); }
};
struct Work {
  int64_t programs = -1; // equal ones, in any order
  std::vector<Tiles> tiles;
};
/// A target's model: the expected time in any unit, or nothing if the choice is out of the question.
using Cost = std::function<std::optional<double>(const Work &)>;

/// Values for `metas` (meta names) of least cost, by Name::text; `sizes` gives every other name a value. Throws std::invalid_argument if no
/// candidate keeps an innermost tile between 1 and 32,768 elements and has a cost.
Symbol::Values choose(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas, const Symbol::Values &sizes,
                      const Cost &cost);

/// The `count` best of them, the cheapest first.
std::vector<Symbol::Values> ranked(const std::vector<Traffic> &arguments, const std::vector<Symbol> &metas,
                                   const Symbol::Values &sizes, const Cost &cost, size_t count);

} // namespace tilery::arrange
