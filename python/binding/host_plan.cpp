// Host programs under Python: tensors are made by a callback, results are Python tensors.
#include "binding.h"
#include "ending.h"
#include "launch_plan.h"
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include "limited_api.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace tilery::python {
void checkRange(const Argument &argument, DType type, const std::string &name, const std::string &program) {
  if (argument.kind != Argument::Int || !isInteger(type))
    return;
  const unsigned bits = unsigned(byteWidth(type)) * 8;
  const int64_t number = argument.integer;
  const bool fits = isSigned(type)          ? !argument.unsignedWide && number >> (bits - 1) == number >> 63
                    : argument.unsignedWide ? bits == 64
                                            : number >= 0 && (bits == 64 || number >> bits == 0);
  if (!fits)
    failOverflow("argument '" + name + "' of " + program + " is " + describe(argument) + ", which does not fit into " +
                 dtypeName(type));
}

namespace {

class PythonEnvironment : public HostEnvironment {
public:
  PythonEnvironment(const HostPlan &plan, PyObject *like, GpuPlace gpu) : plan(plan), like(like), gpu(gpu) {}
  ~PythonEnvironment() override {
    for (void *memory : workspaces)
      std::free(memory);
  }

  void *allocate(std::span<const int64_t> extents, DType dtype, bool workspace) override {
    size_t elements = 1;
    for (int64_t extent : extents)
      elements *= size_t(extent);
    if (workspace && gpu.device < 0) {
      outputs.emplace_back();
      void *memory = std::aligned_alloc(64, (elements * byteWidth(dtype) + 127) / 64 * 64);
      if (!memory)
        throw std::bad_alloc();
      return workspaces.emplace_back(memory);
    }
    if (plan.allocate.is_none())
      throw Error(
          {Diagnostic::Kind::Runtime, plan.program.name + " makes a tensor, and nothing was given to make it with", "", {}});
    nb::object shape = nb::steal(PyTuple_New(Py_ssize_t(extents.size())));
    for (size_t i = 0; i < extents.size(); ++i)
      PyTuple_SET_ITEM(shape.ptr(), Py_ssize_t(i), PyLong_FromLongLong(extents[i]));
    nb::object tensor = callUntilEnd(plan.allocate, shape, nb::str(dtypeName(dtype)), like ? nb::borrow(like) : nb::none());
    Argument made{};
    readArgument(tensor.ptr(), "output", made, owners);
    bool fits = made.kind == Argument::Tensor && made.tensor.dtype == dtype && made.tensor.rank == int32_t(extents.size());
    int64_t dense = 1;
    for (int32_t dim = made.tensor.rank; fits && dim-- > 0; dense *= extents[dim])
      fits = made.tensor.extents[dim] == extents[dim] && (extents[dim] < 2 || made.tensor.strides[dim] == dense);
    if (!fits)
      throw Error({Diagnostic::Kind::Runtime,
                   "allocate returned " + describe(made) + ", which is not the tensor it was asked for",
                   "",
                   {}});
    outputs.push_back(tensor);
    static char nothing[64]; // tensors without elements have no address
    return made.tensor.data ? made.tensor.data : nothing;
  }

  bool launch(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, uint32_t flags) override {
    return launchReleased(kernel, grid, args, flags, gpu, plan.others);
  }

  std::vector<nb::object> outputs; ///< by number of allocation; workspaces are null

private:
  const HostPlan &plan;
  PyObject *like;
  GpuPlace gpu;
  ArgumentOwners owners;
  std::vector<void *> workspaces;
};
} // namespace

std::vector<uint32_t> HostPlan::bind(const std::vector<Parameter> &parameters) const {
  std::vector<uint32_t> slots;
  for (const HostParameter &wanted : program.parameters) {
    auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter &p) { return wanted.name == p.text; });
    if (found == parameters.end())
      throw Error({Diagnostic::Kind::Runtime,
                   "the launcher has no parameter '" + wanted.name + "' that " + program.name + " needs",
                   "",
                   {}});
    slots.push_back(uint32_t(found - parameters.begin()));
  }
  return slots;
}

PyObject *HostPlan::run(const Call &call, const std::vector<uint32_t> &slots) const {
  if (call.grid)
    throw Error({Diagnostic::Kind::Type, std::string(call.kernelName) + " computes its own grid; call it without one", "", {}});
  std::vector<HostArgument> args(slots.size());
  PyObject *like = nullptr;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Argument &argument = call.arguments[slots[i]];
    const HostParameter &wanted = program.parameters[i];
    if (wanted.rank < 0) {
      checkRange(argument, wanted.dtype, wanted.name, program.name);
      args[i].bits = slotBits(argument, {wanted.name, wanted.dtype, false, false}, call.parameters[slots[i]].text,
                              call.kernelName, call.gpu);
      continue;
    }
    if (argument.kind != Argument::Tensor)
      throw Error({Diagnostic::Kind::Type,
                   "argument '" + wanted.name + "' of " + program.name + " is " + describe(argument) + "; expected " +
                       withArticle(dtypeName(wanted.dtype)) + " tensor",
                   "",
                   {}});
    checkPlace(argument, wanted.name.c_str(), program.name.c_str(), call.gpu);
    args[i].tensor = &argument.tensor;
    args[i].readOnly = argument.readOnly;
    if (!like)
      like = argument.object;
  }
  PythonEnvironment environment(*this, like, call.gpu);
  auto outputs = program.run(args, kernels, environment);
  if (!outputs)
    return nullptr;
  auto tensorOf = [&](uint32_t number) -> nb::object {
    return number < slots.size() ? nb::borrow(call.arguments[slots[number]].object) : environment.outputs[number - slots.size()];
  };
  if (outputs->empty())
    Py_RETURN_NONE;
  if (outputs->size() == 1)
    return tensorOf(outputs->front()).release().ptr();
  nb::list results;
  for (uint32_t number : *outputs)
    results.append(tensorOf(number));
  return results.release().ptr();
}

static int traversePlan(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    Py_VISIT(nb::inst_ptr<HostPlan>(self)->allocate.ptr());
    Py_VISIT(nb::inst_ptr<HostPlan>(self)->others.compile.ptr());
  }
  return 0;
}
static int clearPlan(PyObject *self) {
  nb::inst_ptr<HostPlan>(self)->allocate = nb::none();
  nb::inst_ptr<HostPlan>(self)->others.compile = nb::none();
  return 0;
}
static PyType_Slot planSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void *>(traversePlan)}, {Py_tp_clear, reinterpret_cast<void *>(clearPlan)}, {0, nullptr}};

void bindHostPlan(nb::module_ &m) {
  nb::class_<HostPlan>(
      m, "HostPlan", nb::type_slots(planSlots),
      "The image's host program; allocate(extents, dtype, like) -> tensor makes its outputs; other_image() -> CodeImage: "
      "for launches that break a condition of a kernel.")
      .def(
          "__init__",
          [](HostPlan *self, const CodeImage &image, nb::object allocate, nb::object otherImages) {
            if (image.host.empty())
              throw nb::value_error("the image has no host program");
            auto kernels = load(image);
            auto program = HostProgram::parse(image.host, image.kernels);
            new (self) HostPlan{std::move(program), std::move(kernels), std::move(allocate), {std::move(otherImages), {}}};
          },
          nb::arg("image"), nb::arg("allocate").none() = nb::none(), nb::arg("other_image").none() = nb::none());
}
} // namespace tilery::python
