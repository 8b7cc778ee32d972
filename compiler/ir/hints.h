#pragma once
// What programs ask of targets: attributes `tile.NAME` of kernels and loops. A hint changes how code is made, never what it computes.
#include "mlir/IR/Operation.h"
#include <optional>

namespace tilery::tile {

/// The names of all hints; others cannot be given.
///   launch_cooperative_grid of a kernel: its programs may wait for each other: all run at once
///   launch_pdl              of a kernel: it may begin while the launch before it runs, for whose end it waits itself
///   launch_dependents       of a kernel: the launch after it may do so beside it
///   maxnreg                 of a kernel: registers that a thread may have
///   num_warps               of a kernel: warps of a block
///   num_stages              of a loop: steps whose tiles are on their way at once
///   unroll                  of a loop: iterations of which one is made
///   vectorize               of a loop over elements: its iterations are independent
///   waits                   of a kernel: its programs wait for those of the launch before them
llvm::ArrayRef<llvm::StringLiteral> hintNames();

/// The hint of a kernel or loop, which a compilation that asks for it heeds (HeededHints); none where the program gives none.
std::optional<int64_t> hint(mlir::Operation *op, llvm::StringRef name);
/// The same where it turns out later whether it can be heeded.
std::optional<int64_t> givenHint(mlir::Operation *op, llvm::StringRef name);
/// For those of givenHint, and for a hint that has become an operation's own attribute.
void heedHint(llvm::StringRef name);

/// Which hints the calling thread's compilation asked for, from the construction on.
class HeededHints {
public:
  HeededHints();
  ~HeededHints();
  HeededHints(const HeededHints &) = delete;
  /// The names of the hints in `module` that were not, in the order of hintNames().
  std::vector<std::string> ignored(mlir::Operation *module) const;

private:
  friend void heedHint(llvm::StringRef);
  unsigned heeded = 0; ///< bits, by the place in hintNames()
  HeededHints *outer;  ///< a signal's handler may compile between two steps
};

} // namespace tilery::tile
