#include "compiler/block/forms/product_form.h"
#include "compiler/block/forms/memory.h"
#include "covers.h"

using namespace tilery;
using namespace tilery::layout;

TEST(ProductForm, DealsEachElementOnce) {
  for (unsigned n : {8, 24, 160, 256})
    for (Rows order : warpgroupForm().orders) {
      test::expectCovers(warpgroupForm().sums(n, order), 1);
      test::expectCovers(warpForm().sums(n, order), 1);
    }
  for (unsigned bits : {8, 16, 32})
    for (const ProductForm *form : {&warpgroupForm(), &warpForm()})
      for (Rows order : form->orders)
        test::expectCovers(form->factor(bits, order), 1);
}

TEST(ProductForm, TellsTheOrderOfRows) {
  Layout tiles({{dim(0), 2}, {dim(1), 1}});
  tiles.add(Register, 2, {1, 0});
  for (Rows order : {Rows::InOrder, Rows::Paired}) {
    EXPECT_EQ(warpgroupForm().orderOfSums(product(warpgroupForm().sums(64, order), tiles)), order);
    EXPECT_EQ(warpgroupForm().orderOfFactor(product(warpgroupForm().factor(8, order), tiles), 8), order);
  }
  EXPECT_EQ(warpgroupForm().orderOfFactor(warpgroupForm().factor(8, Rows::InOrder), 16), std::nullopt);
  EXPECT_EQ(warpForm().orderOfSums(warpgroupForm().sums(64, Rows::Paired)), std::nullopt);
  EXPECT_EQ(warpForm().orderOfSums(warpgroupForm().sums(64, Rows::InOrder)), Rows::InOrder); // its warps' rows, in order
}

TEST(ProductForm, ReadsWhatItsInstructionsRead) {
  Layout rows = Layout({{dim(0), 64}, {dim(1), 64}}).add(Offset, 64, {0, 1}).add(Offset, 64, {1, 0});
  Layout boxes = copyBoxes(64, 64, 2, Swizzle::B128);
  EXPECT_TRUE(warpgroupForm().reads(boxes, 2) && warpgroupForm().reads(boxes.transposed(), 2));
  EXPECT_FALSE(warpgroupForm().reads(rows, 2)); // no swizzle
  EXPECT_TRUE(warpForm().reads(rows, 2) && warpForm().reads(rows.transposed(), 2) && warpForm().reads(boxes, 2));
  EXPECT_FALSE(warpForm().reads(rows.transposed(), 1)); // bytes across k
}
