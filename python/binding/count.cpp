// tilery._native.count: how much the programs of a launch do, counted from the IR.
#include "binding.h"
#include "compiler/builder/module_impl.h"
#include "compiler/count/memory_use.h"
#include "compiler/count/work.h"
#include "compiler/oracle/oracle.h"
#include "compiler/passes/passes.h"
#include "tilery/dtype.h"
#include "tilery/diagnostic.h"
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {
namespace {

using Grid = std::array<uint32_t, 3>;

/// A module as a CPU's code is made of it.
class Passed {
public:
  explicit Passed(Module &source) : lock(source.get().mutex), module(source.get().module->clone()) {
    mlir::PassManager manager(&source.get().context);
    buildPipeline(manager, false);
    mlir::ScopedDiagnosticHandler quiet(&source.get().context, [](mlir::Diagnostic &) { return mlir::success(); });
    if (failed(manager.run(*module)))
      throw Error({Diagnostic::Kind::Runtime, "the program could not be optimised", "", {}});
  }
  mlir::ModuleOp get() { return *module; }
  template <typename Op> Op find(const std::string &name) {
    if (auto op = module->lookupSymbol<Op>(name))
      return op;
    throw Error({Diagnostic::Kind::Name, "the module has no '" + name + "'", "", {}});
  }

private:
  std::lock_guard<std::recursive_mutex> lock;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

std::vector<count::Work> countKernel(Module &module, const std::string &kernel, Grid grid, const std::vector<uint64_t> &slots,
                                     bool onCpu) {
  Passed passed(module);
  return {count::workOf(passed.find<tile::KernelOp>(kernel), grid, slots, onCpu)};
}

count::MemoryUse memoryUse(Module &module) {
  Passed passed(module);
  return count::memoryUseOf(passed.get());
}

/// args: as of interpret_host. Tensors that the function makes have addresses and no memory.
std::vector<count::Work> countHost(Module &module, const std::string &host, nb::handle args, bool onCpu) {
  Passed passed(module);
  std::vector<oracle::HostArgument> arguments;
  for (nb::handle arg : args) {
    oracle::HostArgument &argument = arguments.emplace_back();
    if (nb::isinstance<nb::tuple>(arg)) {
      argument.tensor.data = nb::cast<uint64_t>(arg[0]);
      argument.tensor.extents = nb::cast<std::vector<int64_t>>(arg[1]);
      argument.tensor.strides = nb::cast<std::vector<int64_t>>(arg[2]);
    } else {
      argument.scalar = nb::cast<uint64_t>(arg);
    }
  }
  std::vector<count::Work> found;
  oracle::Options options;
  options.launch = [&](tile::KernelOp kernel, Grid grid, llvm::ArrayRef<uint64_t> args) {
    found.push_back(count::workOf(kernel, grid, args, onCpu));
  };
  uint64_t next = 0;
  options.allocate = [&](llvm::ArrayRef<int64_t> extents, DType) {
    constexpr uint64_t apart = uint64_t(1) << 40;
    oracle::HostTensor tensor;
    tensor.extents.assign(extents.begin(), extents.end());
    tensor.strides.resize(extents.size());
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim-- > 0; stride *= std::max<int64_t>(extents[dim], 1))
      tensor.strides[dim] = stride;
    tensor.data = apart * ++next;
    return tensor;
  };
  oracle::runHost(passed.find<tile::HostOp>(host), arguments, options);
  return found;
}

} // namespace

void bindCount(nb::module_ &m) {
  nb::class_<Diagnostic>(m, "Remark", "A sentence with the place that it is about.")
      .def_ro("message", &Diagnostic::message)
      .def_ro("chain", &Diagnostic::chain);
  nb::class_<count::Traffic>(m, "Traffic", "Bytes of a pointer argument that all programs of a launch ask for.")
      .def_ro("name", &count::Traffic::name)
      .def_ro("loaded", &count::Traffic::loaded)
      .def_ro("stored", &count::Traffic::stored)
      .def_ro("updated", &count::Traffic::updated)
      .def_ro("address", &count::Traffic::address);
  nb::class_<count::CostlyFunction>(m, "CostlyFunction",
                                    "A function, and the fused products that take as long as all its elements.")
      .def_ro("finding", &count::CostlyFunction::finding)
      .def_ro("products", &count::CostlyFunction::products);
  nb::class_<count::Work>(m, "Work", "What the programs of a launch do.")
      .def_ro("kernel", &count::Work::kernel)
      .def_ro("grid", &count::Work::grid)
      .def_ro("arguments", &count::Work::arguments)
      .def_ro("operations", &count::Work::operations)
      .def_ro("products", &count::Work::products)
      .def_ro("padded_products", &count::Work::paddedProducts)
      .def_ro("findings", &count::Work::findings)
      .def_ro("functions", &count::Work::functions)
      .def_ro("unsure", &count::Work::unsure);
  nb::class_<count::PointerUse>(m, "PointerUse", "What kernels may do through a pointer argument, by its name in them.")
      .def_ro("name", &count::PointerUse::name)
      .def_ro("is_read", &count::PointerUse::isRead)
      .def_ro("is_written", &count::PointerUse::isWritten);
  nb::class_<count::MemoryUse>(m, "MemoryUse", "Which memory kernels touch, and what else others see of them.")
      .def_ro("pointers", &count::MemoryUse::pointers)
      .def_ro("writes_by_number", &count::MemoryUse::writesByNumber, "Maybe, where a number says that is no argument's address.")
      .def_ro("signals", &count::MemoryUse::signals, "Other devices or the host may wait for them.")
      .def_ro("prints", &count::MemoryUse::prints);
  m.def("memory_use", memoryUse, "module"_a, "Of all kernels of a module.");
  m.def(
      "reads_in_vain",
      [](Module &module) {
        std::lock_guard lock(module.get().mutex);
        return count::readsInVain(*module.get().module);
      },
      "module"_a, "Does its kernel read memory, and do nothing that anybody sees?");
  m.def("count", countKernel, "module"_a, "kernel"_a, "grid"_a, "slots"_a, "on_cpu"_a,
        "What the programs of a launch read, write and compute; no memory is read.");
  m.def("count_host", countHost, "module"_a, "host"_a, "args"_a, "on_cpu"_a, "The same of each launch of a host function.");
}

} // namespace tilery::python
