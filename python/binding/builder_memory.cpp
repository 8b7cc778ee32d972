// Memory, buffers and the host function of tilery._native.Builder.
#include "convert.h"
#include "enums.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

using Any = nb::handle;

static LoadOptions options(bool isVolatile, const std::string &cache, const std::string &eviction) {
  return {isVolatile, cache, eviction};
}

static void bindPointers(nb::class_<Builder> &c) {
  c.def(
       "load",
       [](Builder &b, Any pointer, Any mask, Any other, bool v, const std::string &cache, const std::string &eviction) {
         return b.load(toValue(pointer), toOptionalOperand(mask), toOptionalOperand(other), options(v, cache, eviction));
       },
       "pointer"_a, "mask"_a = nb::none(), "other"_a = nb::none(), "volatile"_a = false, "cache"_a = "", "eviction"_a = "")
      .def(
          "store",
          [](Builder &b, Any pointer, Any value, Any mask, bool v, const std::string &cache, const std::string &eviction) {
            b.store(toValue(pointer), toOperand(value), toOptionalOperand(mask), options(v, cache, eviction));
          },
          "pointer"_a, "value"_a, "mask"_a = nb::none(), "volatile"_a = false, "cache"_a = "", "eviction"_a = "")
      .def("pointer_cast", [](Builder &b, Any p, Any dtype) { return b.pointerCast(toValue(p), toDType(dtype)); })
      .def("pointer_to_int", [](Builder &b, Any p) { return b.pointerToInt(toValue(p)); })
      .def("require_numbers", [](Builder &b, Any v, const std::string &what) { b.requireNumbers(toValue(v), what); })
      .def("int_to_pointer", [](Builder &b, Any v, Any dtype) { return b.intToPointer(toValue(v), toDType(dtype)); })
      .def(
          "atomic_rmw",
          [](Builder &b, const std::string &kind, Any p, Any v, Any mask, const std::string &o, const std::string &s) {
            return b.atomicRmw(rmwKind(kind), toValue(p), toOperand(v), toOptionalOperand(mask), memoryOrder(o), syncScope(s));
          },
          "kind"_a, "pointer"_a, "value"_a, "mask"_a = nb::none(), "order"_a = "acq_rel", "scope"_a = "gpu")
      .def(
          "atomic_cas",
          [](Builder &b, Any p, Any expected, Any desired, const std::string &o, const std::string &s) {
            return b.atomicCas(toValue(p), toOperand(expected), toOperand(desired), memoryOrder(o), syncScope(s));
          },
          "pointer"_a, "expected"_a, "desired"_a, "order"_a = "acq_rel", "scope"_a = "gpu");
}

static void bindPlaces(nb::class_<Builder> &c) {
  c.def("root", [](Builder &b, Any pointer, Any extents,
                   Any strides) { return b.root(toValue(pointer), toValues(extents), toValues(strides)); })
      .def(
          "view",
          [](Builder &b, const Root &root, Any starts, Shape shape, std::vector<int64_t> dims, nb::object dilations,
             nb::object limits) {
            return b.view(root, toOperands(starts), shape, dims,
                          dilations.is_none() ? std::vector<Operand>() : toOperands(dilations),
                          limits.is_none() ? std::vector<Operand>() : toOperands(limits));
          },
          "root"_a, "starts"_a, "shape"_a, "dims"_a, "dilations"_a = nb::none(), "limits"_a = nb::none())
      .def(
          "pointer_place",
          [](Builder &b, Any pointers, Any mask) { return b.pointerPlace(toValue(pointers), toOptionalOperand(mask)); },
          "pointers"_a, "mask"_a = nb::none())
      .def(
          "load_place",
          [](Builder &b, const Place &place, Any other, bool v, const std::string &cache, const std::string &eviction) {
            return b.load(place, toOptionalOperand(other), options(v, cache, eviction));
          },
          "place"_a, "other"_a = nb::none(), "volatile"_a = false, "cache"_a = "", "eviction"_a = "")
      .def(
          "store_place",
          [](Builder &b, const Place &place, Any value, const std::string &cache, const std::string &eviction) {
            b.store(place, toOperand(value), options(false, cache, eviction));
          },
          "place"_a, "value"_a, "cache"_a = "", "eviction"_a = "")
      .def(
          "atomic_place",
          [](Builder &b, const std::string &kind, const Place &place, Any value, const std::string &o, const std::string &s) {
            return b.atomicRmw(rmwKind(kind), place, toOperand(value), memoryOrder(o), syncScope(s));
          },
          "kind"_a, "place"_a, "value"_a, "order"_a = "relaxed", "scope"_a = "gpu")
      .def("alloc", [](Builder &b, Shape shape, Any dtype,
                       const std::string &where) { return b.alloc(shape, toDType(dtype), space(where)); })
      .def("subview", [](Builder &b, const Buffer &buffer, Any offsets, Shape shape,
                         std::vector<int64_t> dims) { return b.subview(buffer, toOperands(offsets), shape, dims); })
      .def("reinterpret",
           [](Builder &b, const Buffer &buffer, Shape shape, Any dtype) { return b.reinterpret(buffer, shape, toDType(dtype)); })
      .def("buffer_load", &Builder::bufferLoad)
      .def(
          "buffer_store",
          [](Builder &b, const Buffer &buffer, Any value, Any mask) {
            b.bufferStore(buffer, toOperand(value), toOptionalValue(mask));
          },
          "buffer"_a, "value"_a, "mask"_a = nb::none())
      .def("element_load",
           [](Builder &b, const Buffer &buffer, Any indices) { return b.elementLoad(buffer, toOperands(indices)); })
      .def("is_used", [](Builder &b, Any value) { return b.isUsed(toValue(value)); })
      .def("element_update",
           [](Builder &b, const std::string &kind, const Buffer &buffer, Any indices, Any value) {
             return b.elementUpdate(rmwKind(kind), buffer, toOperands(indices), toOperand(value));
           })
      .def("element_store", [](Builder &b, const Buffer &buffer, Any indices, Any value) {
        b.elementStore(buffer, toOperands(indices), toOperand(value));
      });
}

static void bindHost(nb::class_<Builder> &c) {
  c.def("begin_host",
        [](Builder &b, const std::string &name, nb::list params) {
          std::vector<HostParam> list;
          for (nb::handle item : params) {
            nb::tuple p = nb::cast<nb::tuple>(item); // (name, dtype, rank or -1 for a scalar)
            list.push_back({nb::cast<std::string>(p[0]), toDType(p[1]), nb::cast<int64_t>(p[2])});
          }
          nb::list result;
          for (auto &arg : b.beginHost(name, list))
            result.append(arg.scalar ? nb::cast(arg.scalar) : nb::cast(arg.tensor));
          return result;
        })
      .def("host_extent", &Builder::hostExtent)
      .def("host_stride", &Builder::hostStride)
      .def("host_pointer", &Builder::hostPointer)
      .def(
          "host_check",
          [](Builder &b, Any x, Any y, const std::string &message, bool assumption) {
            b.hostCheck(toValue(x), toValue(y), message, assumption);
          },
          "lhs"_a, "rhs"_a, "message"_a, "assumption"_a = false)
      .def(
          "host_empty",
          [](Builder &b, Any extents, Any dtype, bool workspace) {
            return b.hostEmpty(toValues(extents), toDType(dtype), workspace);
          },
          "extents"_a, "dtype"_a, "workspace"_a = false)
      .def("launch",
           [](Builder &b, const std::string &kernel, Any grid, Any args) { b.launch(kernel, toValues(grid), toValues(args)); })
      .def("end_host", [](Builder &b, nb::list outputs) {
        std::vector<TensorArg> list;
        for (nb::handle item : outputs)
          list.push_back(nb::cast<TensorArg>(item));
        b.endHost(list);
      });
}

void bindMemory(nb::class_<Builder> &c) {
  bindPointers(c);
  bindPlaces(c);
  bindHost(c);
}

} // namespace tilery::python
