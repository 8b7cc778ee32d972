#pragma once
// How hints spell what a program can write: in the language that it is written in. A process has one spelling, and a thread that makes
// programs of another language one of its own.

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

struct Spelling {
  const char *truth, *falsehood;
  const char *division;     ///< the operators that divide
  const char *quotient;     ///< the operator by which a quotient of integers is one
  const char *conversion;   ///< of a tile's elements
  const char *newDimension; ///< what adds a dimension of size 1
  const char *range;        ///< what makes a tile of offsets
  const char *boxes;        ///< accesses of rows and columns
  const char *product;      ///< the function that multiplies two tiles
  const char *histogram;    ///< what counts a tile's numbers, as a noun
  const char *load;         ///< the function
  const char *scalarOf;     ///< of a tensor of one element, behind its name
  const char *carried;      ///< how a variable lives on behind a loop or branch
  const char *unrolled;     ///< loops that are
  const char *checked;      ///< how a launch checks its accesses
  const char *serial;       ///< how the programs of a launch take turns
};

/// The thread's; else C++'s and C's, unless this process has set another one.
const Spelling &spelling();
/// `spelling` stays as it is until the process ends.
void setSpelling(const Spelling &spelling);
/// From now on, of the calling thread.
void setThreadSpelling(const Spelling &spelling);

} // namespace tilery
#pragma GCC visibility pop
