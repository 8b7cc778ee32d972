#pragma once
// The steps of an arrangement. Each says how the indices of its result lead to the indices of its input.
#include "tilery/arrange.h"

namespace tilery::arrange {

struct Tile { ///< input index = outer * stride + inner * spacing; the level becomes two
  struct Dim {
    Symbol stride, spacing;
    /// stride == size and spacing == 1, last tile may overhang: the outer index is in range whenever input and inner index are.
    bool exact;
    /// The last tile does not overhang: the input index is in range whenever outer and inner index are.
    bool contained;
  };
  std::vector<Dim> dims;
};
struct Select { ///< input index d = index[inputDims[d]], or 0 for -1
  std::vector<int64_t> inputDims;
};
struct Affine { ///< input index = offset + index * step
  std::vector<Symbol> offsets, steps;
};
struct Flatten { ///< row-major: input dimensions [start, end) come from one index
  size_t start, end;
};
struct Ravel { ///< the level holds the dimensions of several levels of the input
};

struct View {
  ViewRef input; ///< none at the source
  std::variant<std::monostate, Tile, Select, Affine, Flatten, Ravel> step;
  unsigned level = 0; ///< the step acts on this one
  std::vector<Shape> levels;
};

} // namespace tilery::arrange
