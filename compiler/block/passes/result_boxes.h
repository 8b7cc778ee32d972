#pragma once
// A tile that the work on a product's result loads and that is a box: it can come through the product's ring, behind the last step.
#include "compiler/block/recognise/find_product.h"
#include "compiler/block/recognise/map_boxes.h"

namespace tilery::block {

struct ResultBox {
  tile::LoadOp load;
  MappedTile tile;
};
/// The load of a tile of the product's shape behind it, with most bytes, that may as well stand in front of it, if it is a box that asks
/// nothing of a launch but what is `asked` already.
std::optional<ResultBox> findResultBox(const BoxProduct &product, llvm::ArrayRef<BoxCondition> asked);
/// The load that choose-schedule has marked with `block.boxed`.
std::optional<ResultBox> markedResultBox(tile::KernelOp kernel);

} // namespace tilery::block
