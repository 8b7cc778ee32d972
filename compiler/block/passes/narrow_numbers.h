#pragma once
// Places of fetched factors as numbers of 32 bits.
#include "compiler/block/recognise/find_product.h"

namespace tilery::block {

/// What tells places of the product's fetched factors anew in each step is cut to 32 bits where that suffices, as far as constants and
/// `block.require` of the launch say: half as much to hand from lane to lane, and one instruction an address.
void narrowNumbers(const BoxProduct &product);

} // namespace tilery::block
