// tilery._native.interpret: one launch by the oracle.
#include "binding.h"
#include "compiler/builder/module_impl.h"
#include "compiler/oracle/element.h"
#include "compiler/oracle/oracle.h"
#include "compiler/oracle/unwritten.h"
#include "convert.h"
#include "ending.h"
#include "interrupts.h"
#include "runtime/pool.h"
#include "tilery/diagnostic.h"
#include <cstring>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

/// Held while the oracle reads the module. Who waits for it lets other threads of Python run: who holds it may need them.
static std::unique_lock<std::recursive_mutex> locked(Module &module) {
  Released others;
  return std::unique_lock(module.get().mutex);
}

/// Lets other threads run, and the handlers of signals: one may raise.
static bool interrupted() {
  {
    Released others;
  }
  return untilEnd([] { return PyErr_CheckSignals(); }) != 0;
}

static oracle::Allocation allocation(nb::handle item) {
  nb::tuple t = nb::cast<nb::tuple>(item);
  oracle::Allocation result;
  result.address = nb::cast<uint64_t>(t[0]);
  result.bytes = nb::cast<uint64_t>(t[1]);
  result.name = nb::cast<std::string>(t[2]);
  result.elementBytes = nb::cast<unsigned>(t[3]);
  return result;
}

/// The bounds of some launches.
struct Bounds : oracle::Shadow {
  Bounds(uint64_t steps, bool tensorCores) : steps(steps), tensorCores(tensorCores) {}
  uint64_t steps; ///< oracle::Options::maxSteps
  bool tensorCores;
};

static oracle::Element elementOf(DType dtype) {
  using llvm::APFloat;
  using oracle::Format;
  switch (dtype) {
  case DType::F8E4M3:
    return {Format::OtherFloat, 8, &APFloat::Float8E4M3FN()};
  case DType::F8E5M2:
    return {Format::OtherFloat, 8, &APFloat::Float8E5M2()};
  case DType::F16:
    return {Format::F16, 16, &APFloat::IEEEhalf()};
  case DType::BF16:
    return {Format::BF16, 16, &APFloat::BFloat()};
  case DType::F32:
    return {Format::F32, 32, &APFloat::IEEEsingle()};
  case DType::F64:
    return {Format::F64, 64, &APFloat::IEEEdouble()};
  default:
    return {Format::Int, bitWidth(dtype)};
  }
}

/// What two runs of the same launches left in a tensor, element by element: the oracle's, at the addresses it wrote to, and another's.
/// An object that was never given to the oracle says that all bits must be the same. Returns (element, what is wrong) of each difference,
/// `most` of them.
static nb::list differences(const oracle::Shadow &shadow, DType dtype, uint64_t wanted, uint64_t got, uint64_t elements,
                            size_t most) {
  oracle::Element e = elementOf(dtype);
  nb::list found;
  auto bytes = [&](uint64_t base, uint64_t i) { return reinterpret_cast<const uint8_t *>(base) + i * e.bytes(); };
  for (uint64_t i = 0; i < elements && found.size() < most; ++i) {
    const uint8_t *a = bytes(wanted, i), *b = bytes(got, i);
    auto range = shadow.memory.find(reinterpret_cast<uint64_t>(a));
    bool rounded = range != shadow.memory.end();
    if (!rounded && !std::memcmp(a, b, e.bytes()))
      continue;
    if (!e.isFloat()) {
      if (!rounded || !range->second.isUnknown())
        found.append(nb::make_tuple(i, std::to_string(int64_t(oracle::readElement(e, b))) + " instead of " +
                                           std::to_string(int64_t(oracle::readElement(e, a)))));
      continue;
    }
    double want = oracle::decode(e, oracle::readElement(e, a)), have = oracle::decode(e, oracle::readElement(e, b));
    if (rounded ? range->second.contains(have) : (want != want && have != have) || (want == 0 && have == 0))
      continue; // NaNs have no particular bits, and zeros among equal operands of min and max no particular sign
    char text[200];
    if (rounded)
      std::snprintf(text, sizeof text, "%.9g is outside [%.9g, %.9g]", have, range->second.lo, range->second.hi);
    else
      std::snprintf(text, sizeof text, "%.9g instead of %.9g", have, want);
    found.append(nb::make_tuple(i, text));
  }
  return found;
}

/// How many elements of a tensor the bounds say something about.
static uint64_t bounded(const oracle::Shadow &shadow, DType dtype, uint64_t address, uint64_t elements) {
  uint64_t count = 0, width = elementOf(dtype).bytes();
  for (uint64_t i = 0; i < elements; ++i) {
    auto range = shadow.memory.find(address + i * width);
    count += range == shadow.memory.end() || !range->second.isUnknown();
  }
  return count;
}

static void note(oracle::Options &options, Bounds *bounds) {
  options.shadow = bounds;
  options.contract = true;
  options.maxSteps = bounds ? bounds->steps : 0;
  options.tensorCores = bounds && bounds->tensorCores;
}

/// slots: 64-bit patterns as in TileryLaunch; allocations: (address, bytes, name, bytes of an element) each.
static void interpret(Module &module, const std::string &kernel, nb::handle grid, nb::handle slots, nb::handle allocations,
                      bool debug, Bounds *bounds) {
  auto lock = locked(module);
  auto op = module.get().module->lookupSymbol<tile::KernelOp>(kernel);
  if (!op)
    throw Error(Diagnostic{Diagnostic::Kind::Name, "the module has no kernel '" + kernel + "'", "", {}});
  std::array<uint32_t, 3> extents;
  size_t axis = 0;
  for (nb::handle extent : grid)
    extents.at(axis++) = nb::cast<uint32_t>(extent);
  std::vector<uint64_t> args;
  for (nb::handle slot : slots)
    args.push_back(nb::cast<uint64_t>(slot));
  oracle::Options options;
  options.debug = debug;
  note(options, bounds);
  for (nb::handle item : allocations)
    options.allocations.push_back(allocation(item));
  options.interrupted = interrupted;
  try {
    oracle::runKernel(op, extents, args, options);
  } catch (oracle::Interrupted) {
    throw nb::python_error();
  }
}

/// args: (address, extents, strides in elements) for a tensor, a 64-bit pattern for a scalar. allocate(extents, dtype) makes a
/// row-major tensor and gives its address; the result says which of those, counted from 0, the host function returns.
static std::vector<int64_t> interpretHost(Module &module, const std::string &host, nb::handle args, nb::handle allocations,
                                          nb::object allocate, bool debug, Bounds *bounds, bool matchSizes) {
  auto lock = locked(module);
  auto op = module.get().module->lookupSymbol<tile::HostOp>(host);
  if (!op)
    throw Error(Diagnostic{Diagnostic::Kind::Name, "the module has no host function '" + host + "'", "", {}});
  std::vector<oracle::HostArgument> arguments;
  for (nb::handle arg : args) {
    oracle::HostArgument argument;
    if (nb::isinstance<nb::tuple>(arg)) {
      argument.tensor.data = nb::cast<uint64_t>(arg[0]);
      argument.tensor.extents = nb::cast<std::vector<int64_t>>(arg[1]);
      argument.tensor.strides = nb::cast<std::vector<int64_t>>(arg[2]);
    } else {
      argument.scalar = nb::cast<uint64_t>(arg);
    }
    arguments.push_back(std::move(argument));
  }
  oracle::Options options;
  options.debug = debug;
  options.matchSizes = matchSizes;
  note(options, bounds);
  for (nb::handle item : allocations)
    options.allocations.push_back(allocation(item));
  int64_t made = 0;
  options.allocate = [&](llvm::ArrayRef<int64_t> extents, DType dtype) {
    oracle::HostTensor tensor;
    tensor.extents.assign(extents.begin(), extents.end());
    tensor.strides.resize(extents.size());
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim-- > 0; stride *= std::max<int64_t>(extents[dim], 1))
      tensor.strides[dim] = stride;
    tensor.data = nb::cast<uint64_t>(allocate(tensor.extents, dtypeName(dtype)));
    tensor.number = made++;
    return tensor;
  };
  options.interrupted = interrupted;
  std::vector<int64_t> results;
  try {
    for (const oracle::HostArgument &result : oracle::runHost(op, arguments, options))
      results.push_back(result.tensor.number);
  } catch (oracle::Interrupted) {
    throw nb::python_error();
  }
  return results;
}

void bindOracle(nb::module_ &m) {
  nb::class_<Bounds>(m, "Bounds",
                     "What any right implementation may leave in memory: launches of the reference interpreter fill it.")
      .def(nb::init<uint64_t, bool>(), "steps"_a = 0, "tensor_cores"_a = false)
      .def_prop_ro(
          "undetermined", [](const Bounds &bounds) { return bounds.undetermined; },
          "Did a branch, an address or a mask hang on a rounded value?")
      .def(
          "differences",
          [](const Bounds &shadow, nb::handle dtype, uint64_t wanted, uint64_t got, uint64_t elements, size_t most) {
            return differences(shadow, toDType(dtype), wanted, got, elements, most);
          },
          "dtype"_a, "wanted"_a, "got"_a, "elements"_a, "most"_a = 8)
      .def(
          "bounded",
          [](const Bounds &shadow, nb::handle dtype, uint64_t address, uint64_t elements) {
            return bounded(shadow, toDType(dtype), address, elements);
          },
          "dtype"_a, "address"_a, "elements"_a);
  m.def(
      "poison_scratch", [](uint64_t bytes) { std::memset(threadScratch(bytes), 0xff, bytes); }, "bytes"_a,
      "Fills the memory that programs of this thread work in: what they read without having written it is NaN.");
  m.def(
      "unwritten_pattern",
      [] {
        const auto &pattern = oracle::unwrittenPattern();
        return nb::bytes(reinterpret_cast<const char *>(pattern.data()), pattern.size());
      },
      "What memory that nobody has written holds while kernels are debugged, from each multiple of 16 bytes on.");
  m.def(
      "byte_width", [](nb::handle dtype) { return byteWidth(toDType(dtype)); }, "dtype"_a,
      "Bytes that an element takes in memory.");
  m.def("fill_unwritten", oracle::fillUnwritten, "address"_a, "bytes"_a, "Fills memory with the pattern.");
  m.def(
      "unwritten_bytes",
      [](uint64_t address, uint64_t bytes) {
        std::pair<uint64_t, uint64_t> found{0, 0};
        oracle::eachUnwritten(address, bytes, [&](uint64_t begin, uint64_t end) {
          if (!found.first)
            found.second = begin;
          found.first += end - begin;
        });
        return found;
      },
      "address"_a, "bytes"_a, "(how many bytes hold the pattern, offset of the first).");
  m.def("interpret_host", interpretHost, "module"_a, "host"_a, "args"_a, "allocations"_a, "allocate"_a, "debug"_a = false,
        "bounds"_a.none() = nullptr, "match_sizes"_a = false,
        "Runs a host function and what it launches in the reference interpreter.");
  m.def("interpret", interpret, "module"_a, "kernel"_a, "grid"_a, "slots"_a, "allocations"_a, "debug"_a = false,
        "bounds"_a.none() = nullptr,
        "Runs a launch in the reference interpreter; debug checks bounds, uninitialised reads and races.");
}

} // namespace tilery::python
