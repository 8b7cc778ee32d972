#include "launch_plan.h"
#include "binding.h"
#include "ending.h"
#include "interrupts.h"
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include <cstring>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace tilery::python {
namespace {

template <typename T> uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

uint64_t halfBits(double value, bool brain) {
  float single = float(value);
  if (!brain) {
    _Float16 half = _Float16(single);
    return bitsOf(half);
  }
  uint32_t bits = uint32_t(bitsOf(single));
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40; // a NaN stays one
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

/// Kernels know integers of memory by their width only.
bool sameInMemory(DType a, DType b) { return a == b || (!isFloat(a) && !isFloat(b) && byteWidth(a) == byteWidth(b)); }

/// The only element of a tensor of no dimensions, as a slot holds it.
uint64_t elementBits(const Tensor &tensor, GpuPlace gpu) {
  uint64_t bits = 0;
  unsigned width = byteWidth(tensor.dtype);
  if (isGpu(tensor.device))
    readGpu(&bits, tensor.data, width, gpu.device, gpu.stream);
  else
    std::memcpy(&bits, tensor.data, width);
  if (isBool(tensor.dtype))
    return bits != 0;
  unsigned unused = 64 - 8 * width;
  return isSigned(tensor.dtype) ? uint64_t(int64_t(bits << unused) >> unused) : bits;
}

[[noreturn]] void failSlot(const Argument &argument, const char *parameterName, const char *kernelName,
                           const std::string &expected) {
  throw Error(
      {Diagnostic::Kind::Type,
       "argument '" + std::string(parameterName) + "' of " + kernelName + " is " + describe(argument) + "; expected " + expected,
       argument.kind == Argument::Tensor && argument.tensor.rank == 0
           ? "pass its number: " + std::string(parameterName) + ".item()"
           : "",
       {}});
}
} // namespace

void checkPlace(const Argument &argument, const char *parameterName, const char *kernelName, GpuPlace gpu) {
  if (gpu.device >= 0 && argument.kind == Argument::Tensor && !isGpu(argument.tensor.device))
    throw Error({Diagnostic::Kind::Value,
                 "argument '" + std::string(parameterName) + "' of " + kernelName +
                     " is on the CPU, the other tensors on cuda:" + std::to_string(gpu.device),
                 "move all tensors of a launch to one device",
                 {}});
}

uint64_t slotBits(const Argument &argument, const ArgInfo &info, const char *parameterName, const char *kernelName,
                  GpuPlace gpu) {
  if (info.pointer) {
    if (argument.kind == Argument::None)
      return 0;
    if (argument.kind != Argument::Tensor || !sameInMemory(argument.tensor.dtype, info.dtype))
      failSlot(argument, parameterName, kernelName, withArticle(dtypeName(info.dtype)) + " tensor");
    if (argument.readOnly && info.written)
      refuseReadOnly(parameterName, kernelName);
    checkPlace(argument, parameterName, kernelName, gpu);
    return reinterpret_cast<uint64_t>(argument.tensor.data);
  }
  if (argument.kind == Argument::Tensor && argument.tensor.rank == 0 && argument.tensor.dtype == info.dtype)
    return elementBits(argument.tensor, gpu);
  bool integral = argument.kind == Argument::Int || argument.kind == Argument::Bool;
  if (!integral && argument.kind != Argument::Float)
    failSlot(argument, parameterName, kernelName, withArticle(dtypeName(info.dtype)));
  double number = argument.kind == Argument::Float                          ? argument.number
                  : argument.kind == Argument::Int && argument.unsignedWide ? double(uint64_t(argument.integer))
                                                                            : double(argument.integer);
  switch (info.dtype) {
  case DType::F64:
    return bitsOf(number);
  case DType::F32:
    return bitsOf(float(number));
  case DType::F16:
    return halfBits(number, false);
  case DType::BF16:
    return halfBits(number, true);
  case DType::F8E4M3:
  case DType::F8E5M2:
    break;
  case DType::Bool:
    if (integral)
      return argument.integer != 0;
    break;
  default:
    if (integral)
      return uint64_t(argument.integer);
  }
  failSlot(argument, parameterName, kernelName, withArticle(dtypeName(info.dtype)));
}

const Kernel &OtherImages::kernel(const std::string &name, unsigned blocks) {
  auto found = kernels.find(blocks);
  if (found == kernels.end()) {
    nb::object image = nb::steal(untilEnd(
        [&] { return blocks ? PyObject_CallFunction(compile.ptr(), "I", blocks) : PyObject_CallNoArgs(compile.ptr()); }));
    if (!image.is_valid())
      throw PythonRaised{};
    CodeImage code;
    if (!nb::try_cast(image, code))
      throw Error({Diagnostic::Kind::Type, "other_image() must return a CodeImage or its bytes", "", {}});
    found = kernels.try_emplace(blocks, load(code)).first; // another thread may have been here while Python ran
  }
  for (const KernelPtr &kernel : found->second)
    if (kernel->info().name == name)
      return *kernel;
  throw Error({Diagnostic::Kind::Runtime, "the other image has no kernel " + name, "", {}});
}

bool launchReleased(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, uint32_t flags, GpuPlace gpu,
                    OtherImages &others) {
  if (kernel.gpuCode()) { // only puts the launch on a stream: the GIL is not worth releasing
    LaunchOptions options;
    options.device = gpu.device;
    options.stream = gpu.stream;
    if (others.compile.is_valid() && !others.compile.is_none()) {
      options.context = &others;
      options.withoutBoxes = [](void *context, const Kernel &kernel) -> const Kernel & {
        return static_cast<OtherImages *>(context)->kernel(kernel.info().name, 0);
      };
      options.clustered = [](void *context, const Kernel &kernel, unsigned blocks) -> const Kernel & {
        return static_cast<OtherImages *>(context)->kernel(kernel.info().name, blocks);
      };
    }
    launch(kernel, grid, args, options);
    return true;
  }
  Released released;
  LaunchOptions options;
  options.flags = flags;
  options.context = &released;
  options.interrupted = Released::interrupted();
  return launch(kernel, grid, args, options) == LaunchResult::Done;
}

uint32_t KernelPlan::flags(const Argument *arguments) const {
  std::vector<Span> spans(slots.size());
  for (size_t i = 0; i < slots.size(); ++i)
    if (const Argument &argument = arguments[slots[i]]; argument.kind == Argument::Tensor)
      spans[i] = byteSpan(argument.tensor);
  return launchFlags(kernel->info(), spans);
}

PyObject *KernelPlan::run(const Call &call, uint32_t flags) const {
  if (!call.grid)
    throw Error({Diagnostic::Kind::Type,
                 std::string(call.kernelName) + " is called without a grid",
                 "write " + std::string(call.kernelName) + "[grid](...)",
                 {}});
  auto *args = static_cast<uint64_t *>(alloca((slots.size() + 1) * sizeof(uint64_t)));
  for (size_t i = 0; i < slots.size(); ++i)
    args[i] =
        slotBits(call.arguments[slots[i]], kernel->info().args[i], call.parameters[slots[i]].text, call.kernelName, call.gpu);
  nb::object returned = result;
  return launchReleased(*kernel, call.grid, args, flags, call.gpu, others) ? returned.release().ptr() : nullptr;
}

// A plan's result is often the kernel object that owns the plan.
static int traversePlan(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) {
    Py_VISIT(nb::inst_ptr<KernelPlan>(self)->result.ptr());
    Py_VISIT(nb::inst_ptr<KernelPlan>(self)->others.compile.ptr());
  }
  return 0;
}
static int clearPlan(PyObject *self) {
  nb::inst_ptr<KernelPlan>(self)->result.reset();
  nb::inst_ptr<KernelPlan>(self)->others.compile.reset();
  return 0;
}
static PyType_Slot planSlots[] = {
    {Py_tp_traverse, reinterpret_cast<void *>(traversePlan)}, {Py_tp_clear, reinterpret_cast<void *>(clearPlan)}, {0, nullptr}};

void bindPlans(nb::module_ &m) {
  nb::class_<Kernel>(m, "Kernel", "A kernel in executable memory.")
      .def_prop_ro("name", [](const Kernel &kernel) { return kernel.info().name; })
      .def_prop_ro("scratch_bytes", [](const Kernel &kernel) { return kernel.info().scratchBytes; })
      .def_prop_ro(
          "spill_bytes", [](const Kernel &kernel) { return kernel.info().gpu.spillBytes; },
          "On a GPU: bytes that a thread's code stores and loads for want of registers.")
      .def_prop_ro(
          "shared_bytes", [](const Kernel &kernel) { return kernel.info().gpu.sharedBytes; },
          "On a GPU: of shared memory, for a block.")
      .def_prop_ro(
          "threads", [](const Kernel &kernel) { return kernel.info().gpu.threads; }, "On a GPU: of a block; on a CPU 0.")
      .def_prop_ro("args", [](const Kernel &kernel) {
        nb::list args;
        for (const ArgInfo &arg : kernel.info().args)
          args.append(nb::make_tuple(arg.name, dtypeName(arg.dtype), arg.pointer, arg.written));
        return nb::tuple(args);
      });
  nb::class_<KernelPlan>(
      m, "KernelPlan", nb::type_slots(planSlots),
      "One kernel over the caller's grid; slots: the parameter position of each kernel argument; other_image() -> "
      "CodeImage: for launches that break a condition of the kernel; other_image(blocks): for clusters of so many blocks.")
      .def(
          "__init__",
          [](KernelPlan *self, std::shared_ptr<Kernel> kernel, std::vector<uint32_t> slots, nb::object result,
             nb::object otherImages) {
            if (slots.size() != kernel->info().args.size())
              throw nb::value_error("one slot for each kernel argument");
            new (self) KernelPlan{std::move(kernel), std::move(slots), std::move(result), {std::move(otherImages), {}}};
          },
          nb::arg("kernel"), nb::arg("slots"), nb::arg("result").none() = nb::none(), nb::arg("other_image").none() = nb::none())
      .def_prop_ro("kernel", [](const KernelPlan &plan) { return std::const_pointer_cast<Kernel>(plan.kernel); });
  bindHostPlan(m);
}
} // namespace tilery::python
