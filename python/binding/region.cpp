// Functions on regions (include/tilery/region.h) as Python sees them.
#include "tilery/region.h"
#include "convert.h"
#include "enums.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

using Any = nb::handle;

static RegionReduce regionReduce(const std::string &name) {
  static const std::pair<const char *, RegionReduce> table[] = {
      {"sum", RegionReduce::Sum},     {"abssum", RegionReduce::AbsSum}, {"max", RegionReduce::Max},
      {"min", RegionReduce::Min},     {"absmax", RegionReduce::AbsMax}, {"bitand", RegionReduce::BitAnd},
      {"bitor", RegionReduce::BitOr}, {"bitxor", RegionReduce::BitXor}};
  for (auto &[word, kind] : table)
    if (name == word)
      return kind;
  throw Error(Diagnostic{Diagnostic::Kind::Value,
                         "unknown reduction '" + name + "'",
                         "known: sum, abssum, max, min, absmax, bitand, bitor, bitxor",
                         {}});
}

void bindRegion(nb::module_ &m) {
  nb::class_<Region>(m, "Region",
                     "A rectangle of a Root or a Buffer; sizes known at run time only are -1, no extents: a place to start from.")
      .def(
          "__init__",
          [](Region *self, nb::object memory, std::string name, Shape shape, Any starts, Shape extents, bool whole) {
            std::variant<Root, Buffer> handle;
            if (nb::isinstance<Root>(memory))
              handle = nb::cast<Root>(memory);
            else
              handle = nb::cast<Buffer>(memory);
            new (self) Region{handle, std::move(name), std::move(shape), toOperands(starts), std::move(extents), whole, {}};
          },
          "memory"_a, "name"_a, "shape"_a, "starts"_a, "extents"_a, "whole"_a);
  m.def(
      "copy_region",
      [](Builder &b, Region src, Region dst, Any outside, const std::string &eviction) {
        src.eviction = dst.eviction = eviction;
        copy(b, src, dst, toOptionalOperand(outside));
      },
      "builder"_a, "src"_a, "dst"_a, "outside"_a = nb::none(), "eviction"_a = "");
  m.def("fill_region", [](Builder &b, const Region &region, Any value) { fill(b, region, toOperand(value)); });
  m.def("load_region", [](Builder &b, const Region &region) { return load(b, region); });
  m.def("store_region", [](Builder &b, const Region &region, Any tile) { store(b, region, toValue(tile)); });
  m.def(
      "gemm_region",
      [](Builder &b, const Region &x, const Region &y, const Region &acc, bool tx, bool ty, Any clear) {
        gemm(b, x, y, acc, {tx, ty, toOptionalOperand(clear), {Precision::Tf32}});
      },
      "builder"_a, "A"_a, "B"_a, "C"_a, "transpose_A"_a, "transpose_B"_a, "clear"_a.none());
  m.def("reduce_region", [](Builder &b, const std::string &kind, const Region &src, const Region &dst, int64_t dim, bool clear,
                            bool nan) { reduce(b, regionReduce(kind), src, dst, dim, clear, nan); });
  m.def("scan_region", [](Builder &b, const std::string &kind, const Region &src, const Region &dst, int64_t dim, bool reverse) {
    scan(b, reduceKind(kind), src, dst, dim, reverse);
  });
  m.def("varies_by_thread", [](Any value) { return variesByThread(toValue(value)); });
  m.def("atomic_region", [](Builder &b, const std::string &kind, const Region &dst, Any src, const std::string &order) {
    Region *region = nullptr;
    if (nb::try_cast<Region *>(src, region, false) && region)
      atomic(b, rmwKind(kind), dst, *region, memoryOrder(order));
    else
      atomic(b, rmwKind(kind), dst, toOperand(src), memoryOrder(order));
  });
}

} // namespace tilery::python
