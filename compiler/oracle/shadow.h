#pragma once
// Interval arithmetic in double for the shadow: what any correct implementation may compute.
#include "compiler/oracle/value.h"

namespace tilery::oracle {

Interval unknown();
Interval exactly(double value);
Interval hull(Interval a, Interval b);
/// `range` after rounding to the format, with an error of up to `ulps` units in the last place.
Interval widen(Element element, Interval range, double ulps);

Interval addRange(Interval a, Interval b);
Interval subRange(Interval a, Interval b);
Interval mulRange(Interval a, Interval b);
Interval divRange(Interval a, Interval b);

/// The sum and the product of values of the format, taken in any order and with any brackets, each step rounded.
Interval sumRange(Element element, llvm::ArrayRef<Interval> values);
Interval productRange(Element element, llvm::ArrayRef<Interval> values);

} // namespace tilery::oracle
