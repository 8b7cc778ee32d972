#include "tilery/spelling.h"

namespace tilery {
namespace {
constexpr Spelling ofCpp{
    .truth = "true",
    .falsehood = "false",
    .division = "/ or %",
    .quotient = "/",
    .conversion = "x.to(DType::...)",
    .newDimension = "x.expand(1) or x.expand(0)",
    .range = "arange",
    .boxes = "rows.expand(1) * n + columns.expand(0)",
    .product = "dot",
    .histogram = "a histogram",
    .load = "load",
    .scalarOf = "[0]",
    .carried = "name it among what the loop or branch carries",
    .unrolled = "loops of C++ around tiles",
    .checked = "the same kernel in one of Python's languages, launched with debug=True, has every access checked",
    .serial = "launch a single program",
};
const Spelling *current = &ofCpp;
thread_local const Spelling *ofThread = nullptr;
} // namespace

const Spelling &spelling() { return ofThread ? *ofThread : *current; }
void setSpelling(const Spelling &spelling) { current = &spelling; }
void setThreadSpelling(const Spelling &spelling) { ofThread = &spelling; }

} // namespace tilery
