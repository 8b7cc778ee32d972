#include "compiler/block/forms/convert.h"
#include "compiler/block/forms/fragments.h"
#include "tests/unit/layout/random_layout.h"
#include <gtest/gtest.h>
#include <map>

using namespace tilery::layout;

namespace {
const Axis hardware[] = {Register, Lane, Warp};
struct Holder {
  int64_t reg, lane, warp;
};
std::map<Layout::Vector, std::vector<Holder>> holdersOf(const Layout &layout) {
  std::map<Layout::Vector, std::vector<Holder>> result;
  for (int64_t warp = 0; warp < layout.extent(Warp); ++warp)
    for (int64_t lane = 0; lane < layout.extent(Lane); ++lane)
      for (int64_t reg = 0; reg < layout.extent(Register); ++reg)
        result[layout.at({{Register, reg}, {Lane, lane}, {Warp, warp}})].push_back({reg, lane, warp});
  return result;
}

/// The least that moves the tile, by looking at every place.
ConversionKind leastKind(const Layout &from, const Layout &to) {
  auto holders = holdersOf(from);
  bool inWarp = true, inLane = true, inPlace = true, sameForAll = true;
  std::map<int64_t, std::vector<int64_t>> possible; // register of `to` -> registers of `from` that serve all lanes
  for (auto &[at, places] : holdersOf(to))
    for (const Holder &place : places) {
      bool warp = false, lane = false, same = false;
      std::vector<int64_t> here;
      for (const Holder &holder : holders.at(at)) {
        warp |= holder.warp == place.warp;
        if (holder.warp == place.warp && holder.lane == place.lane) {
          lane = true;
          same |= holder.reg == place.reg;
          here.push_back(holder.reg);
        }
      }
      inWarp &= warp, inLane &= lane, inPlace &= same;
      auto [known, isNew] = possible.try_emplace(place.reg, here);
      if (!isNew)
        std::erase_if(known->second, [&](int64_t reg) { return std::find(here.begin(), here.end(), reg) == here.end(); });
    }
  for (auto &[reg, sources] : possible)
    sameForAll &= !sources.empty();
  return !inWarp                ? ConversionKind::SharedMemory
         : inPlace              ? ConversionKind::None
         : inLane && sameForAll ? ConversionKind::Registers
                                : ConversionKind::Shuffles;
}

void expectSource(const Layout &source, const Layout &from, const Layout &to) {
  forEachPlace(to, [&](llvm::ArrayRef<Layout::Place> place) {
    Layout::Vector held = source.at(place);
    ASSERT_EQ(from.at({{Register, held[0]}, {Lane, held[1]}, {Warp, held[2]}}), to.at(place))
        << source.print() << "\nfrom " << from.print() << "\nto " << to.print();
  });
}
/// The accumulator of the transposed product.
Layout turnedAccumulator() {
  return Layout({{dim(0), 16}, {dim(1), 8}})
      .add(Register, 2, {1, 0})
      .add(Register, 2, {8, 0})
      .add(Lane, 4, {2, 0})
      .add(Lane, 8, {0, 1});
}
} // namespace

TEST(Conversion, KindsAgainstEnumeration) {
  RandomLayouts random(11);
  std::map<ConversionKind, int> seen;
  for (int i = 0; i < 3000; ++i) {
    auto tile = random.tile();
    auto make = [&] {
      Layout layout = random.bijection(tile, hardware, random.upTo(3) == 0);
      if (!random.upTo(2)) // some elements have copies
        layout.add(hardware[random.upTo(2)], 2, Layout::Vector(tile.size(), 0));
      return layout;
    };
    Layout from = make(), to = random.upTo(3) ? make() : from;
    if (!random.upTo(3)) { // the same lanes and warps, other registers
      to = Layout((llvm::ArrayRef<Layout::Output>(tile)));
      for (const Layout::Input &input : from.inputs()) {
        std::vector<Layout::Digit> digits(input.digits.begin(), input.digits.end());
        if (input.axis == Register)
          std::shuffle(digits.begin(), digits.end(), random.random);
        for (const Layout::Digit &digit : digits)
          to.add(input.axis, digit);
      }
    }
    Conversion conversion = cheapestConversion(from, to, 4);
    if (conversion.source)
      expectSource(*conversion.source, from, to);
    else
      EXPECT_EQ(conversion.kind, ConversionKind::SharedMemory);
    ConversionKind least = leastKind(from, to);
    EXPECT_LE(least, conversion.kind) << "less than what is needed: from " << from.print() << " to " << to.print();
    if (conversion.source && !(least == ConversionKind::Shuffles && conversion.kind == ConversionKind::SharedMemory))
      EXPECT_EQ(least, conversion.kind) << "more than what is needed: from " << from.print() << " to " << to.print();
    ++seen[conversion.kind];
  }
  for (ConversionKind kind :
       {ConversionKind::None, ConversionKind::Registers, ConversionKind::Shuffles, ConversionKind::SharedMemory})
    EXPECT_GT(seen[kind], 30) << int(kind);
}

TEST(Conversion, FragmentsOfMatrixInstructions) {
  // A 64 x 16 accumulator is the a operand of the next product, as attention uses it: no work at all.
  EXPECT_EQ(cheapestConversion(wgmmaAccumulator(16), wgmmaOperandA(16), 2).kind, ConversionKind::None);
  // Transposed, lanes differ.
  EXPECT_EQ(cheapestConversion(mmaAccumulator(), turnedAccumulator(), 4).kind, ConversionKind::Shuffles);
  // To rows as they are stored, each of 160 columns by the lanes of a warp: other warps' rows.
  Layout coalesced = Layout({{dim(0), 64}, {dim(1), 160}})
                         .add(Register, 8, {0, 1})
                         .add(Lane, 4, {0, 8})
                         .add(Lane, 8, {1, 0})
                         .add(Register, 5, {0, 32})
                         .add(Register, 2, {8, 0})
                         .add(Warp, 4, {16, 0});
  Conversion stored = cheapestConversion(wgmmaAccumulator(160), coalesced, 2);
  EXPECT_EQ(leastKind(wgmmaAccumulator(160), coalesced), ConversionKind::Shuffles) << "each warp has whole rows";
  EXPECT_EQ(stored.kind, ConversionKind::SharedMemory) << "four registers to choose from for each of 80: memory is cheaper";
  Layout byColumns = Layout({{dim(0), 64}, {dim(1), 160}})
                         .add(Register, 8, {0, 1})
                         .add(Lane, 4, {0, 8})
                         .add(Lane, 8, {1, 0})
                         .add(Warp, 4, {8, 0})
                         .add(Register, 2, {32, 0})
                         .add(Register, 5, {0, 32});
  Conversion through = cheapestConversion(wgmmaAccumulator(160), byColumns, 2);
  ASSERT_EQ(through.kind, ConversionKind::SharedMemory);
  ASSERT_TRUE(through.exchange);
  EXPECT_TRUE(through.exchange->storeMatrix);
  EXPECT_EQ(through.exchange->loadBytes, 16u);
  // 80 values a lane: 10 stores of four matrices in 4 passes each, 10 loads of 16 bytes in 4 passes each; no bank conflicts.
  EXPECT_EQ(through.exchange->storePasses, 40u);
  EXPECT_EQ(through.exchange->loadPasses, 40u);
}
