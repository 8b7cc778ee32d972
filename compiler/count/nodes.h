#pragma once
// A kernel as what counts in it: accesses, operations, products, loops, and the scalars that say how much of each.
#include "compiler/count/scalars.h"

namespace tilery::count {

/// A dimension of a tile in memory: of `size` elements those exist from lo on, below hi; -1: no bound.
struct Extent {
  int64_t size = 1;
  int lo = -1, hi = -1, stride = -1;
  bool isCut = false; ///< of a product on a CPU: what does not exist is not computed
  int64_t most = 0;   ///< that existed in any program
};

constexpr const char *maskOfData = "which elements are read or written hangs on data: all are counted";

struct Node {
  enum Kind { Scalar, Access, Tally, Product, For, If, Once, Contract, Parallel };
  Node(Kind kind, mlir::Operation *op) : kind(kind), op(op) {}
  Kind kind;
  mlir::Operation *op;
  ScalarStep step;
  std::vector<Extent> extents;   // Access; Product: rows, columns and K
  std::vector<int> slots;        // For: lower, upper, step, counter, then initial, carried, yielded and resulting values
  std::vector<Node> body, other; // If: both sides
  double amount = 0;             // Access: bytes of an element; Tally: operations; Product: of the tile
  int argument = -1;             // Access: which
  bool loads = false, stores = false;
  double lanes = 0, existing = 0; // Access, Product, Tally (lanes): of all programs
  unsigned loop = 0;              // the bit of Dependence
};

class NodeReader {
public:
  NodeReader(tile::KernelOp kernel, std::array<uint32_t, 3> grid);
  std::vector<Node> read(mlir::Block &block);

  Scalars scalars;
  Dependence decides = 0;                                        ///< what any number that counts hangs on
  std::array<int, 3> pid{};                                      ///< slots of the program's place in the grid
  std::vector<std::pair<mlir::Operation *, std::string>> unsure; ///< why counts are no exact ones

private:
  int needed(mlir::Value value);
  std::optional<Node> nodeOf(mlir::Operation *op);
  Node forNode(mlir::scf::ForOp loop);
  Node contractNode(tile::ContractOp contract);
  void startLoop(Node &node);
  std::vector<Extent> extentsOf(mlir::Value place);
  Node access(mlir::Operation *op);
  Node combination(mlir::Operation *op);
  Node product(mlir::Operation *op);

  std::array<uint32_t, 3> grid;
  llvm::DenseSet<mlir::Operation *> data;
  unsigned loops = 0;
};

} // namespace tilery::count
