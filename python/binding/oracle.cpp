// tilery._native.interpret: one launch by the oracle.
#include "binding.h"
#include "compiler/builder/module_impl.h"
#include "compiler/oracle/oracle.h"
#include "tilery/diagnostic.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

/// Held while the oracle reads the module. Who waits for it lets other threads of Python run: who holds it may need them.
static std::unique_lock<std::recursive_mutex> locked(Module &module) {
  nb::gil_scoped_release others;
  return std::unique_lock(module.get().mutex);
}

/// Lets other threads run, and the handlers of signals: one may raise.
static bool interrupted() {
  { nb::gil_scoped_release others; }
  return PyErr_CheckSignals() != 0;
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

/// slots: 64-bit patterns as in TileryLaunch; allocations: (address, bytes, name, bytes of an element) each.
static void interpret(Module &module, const std::string &kernel, nb::handle grid, nb::handle slots, nb::handle allocations,
                      bool debug) {
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
                                          nb::object allocate, bool debug) {
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
  m.def("interpret_host", interpretHost, "module"_a, "host"_a, "args"_a, "allocations"_a, "allocate"_a, "debug"_a = false,
        "Runs a host function and what it launches in the reference interpreter.");
  m.def("interpret", interpret, "module"_a, "kernel"_a, "grid"_a, "slots"_a, "allocations"_a, "debug"_a = false,
        "Runs a launch in the reference interpreter; debug checks bounds, uninitialised reads and races.");
}

} // namespace tilery::python
