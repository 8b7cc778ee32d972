// Loader, launcher and cache as Python sees them.
#include "tilery/runtime.h"
#include "binding.h"
#include "interrupts.h"
#include "launch_plan.h"
#include "runtime/cuda/assembler.h"
#include "tilery/cache.h"
#include "tilery/diagnostic.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <set>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {
void bindLauncher(nb::module_ &m);
void bindObserver(nb::module_ &m);
void bindRecorder(nb::module_ &m);

static CodeImage imageOf(
    nb::bytes object,
    const std::vector<std::tuple<std::string, uint64_t, std::vector<std::tuple<std::string, std::string, bool, bool>>>> &kernels,
    nb::bytes host) {
  CodeImage image{std::string(object.c_str(), object.size()), {}, std::string(host.c_str(), host.size())};
  for (const auto &[name, scratch, args] : kernels) {
    KernelInfo info{name, scratch, {}};
    for (const auto &[argument, dtype, pointer, written] : args) {
      auto element = parseDType(dtype);
      if (!element)
        throw nb::value_error("unknown dtype");
      info.args.push_back({argument, *element, pointer, written});
    }
    image.kernels.push_back(std::move(info));
  }
  return image;
}

void bindRuntime(nb::module_ &m) {
  nb::class_<CodeImage>(m, "CodeImage", "The result of a compilation: object code, its kernels, the host program.")
      .def(
          "__init__",
          [](CodeImage *self, nb::bytes object,
             const decltype(std::vector<std::tuple<std::string, uint64_t,
                                                   std::vector<std::tuple<std::string, std::string, bool, bool>>>>()) &kernels,
             nb::bytes host) { new (self) CodeImage(imageOf(object, kernels, host)); },
          "object"_a, "kernels"_a, "host"_a = nb::bytes("", 0))
      .def_ro("ignored_hints", &CodeImage::ignoredHints, "Names of hints that its module gives and its code does not heed.")
      .def(
          "__init__", [](CodeImage *self, nb::bytes bytes) { new (self) CodeImage(deserialize({bytes.c_str(), bytes.size()})); },
          "bytes"_a)
      .def("to_bytes",
           [](const CodeImage &image) {
             std::string bytes = serialize(image);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def_prop_ro("object", [](const CodeImage &image) { return nb::bytes(image.object.data(), image.object.size()); })
      .def_prop_ro("host", [](const CodeImage &image) { return nb::bytes(image.host.data(), image.host.size()); })
      .def_prop_ro(
          "written",
          [](const CodeImage &image) {
            std::set<std::string> names;
            for (const KernelInfo &kernel : image.kernels)
              for (const ArgInfo &argument : kernel.args)
                if (argument.pointer && argument.written)
                  names.insert(argument.name);
            return std::vector<std::string>(names.begin(), names.end());
          },
          "Names of the pointers through which its kernels may store.")
      .def_prop_ro("kernel_names", [](const CodeImage &image) {
        std::vector<std::string> names;
        for (const KernelInfo &kernel : image.kernels)
          names.push_back(kernel.name);
        return names;
      });
  nb::implicitly_convertible<nb::bytes, CodeImage>(); // images come from the cache and from compile() as bytes
  bindPlans(m);
  bindLauncher(m);
  bindObserver(m);
  bindRecorder(m);
  m.def("gpu_count", &gpuCount, "GPUs that the driver sees; 0 without a driver.");
  m.def(
      "gpu_properties",
      [](int device) {
        const GpuProperties &found = gpuProperties(device);
        nb::dict result;
        result["name"] = found.name;
        result["capability"] = nb::make_tuple(found.sm / 10, found.sm % 10);
        result["multiprocessors"] = found.multiprocessors;
        result["shared_bytes"] = found.sharedBytes;
        result["registers"] = found.registers;
        result["clock_khz"] = found.clock;
        result["memory_clock_khz"] = found.memoryClock;
        result["memory_bits"] = found.memoryBits;
        result["cache_bytes"] = found.cacheBytes;
        return result;
      },
      "device"_a, "What the driver says of a GPU: its name, compute capability, and numbers (0: it does not say).");
  m.def("gpu_target", &gpuTarget, "device"_a, "What to compile for on this GPU: the target of compile().");
  m.def("assembled", &assembled, "image"_a, "device"_a, "The image with its PTX assembled by the driver for this GPU.",
        nb::call_guard<Released>()); // the driver's compiler may be called by several threads at once
  m.def(
      "try_assembled",
      [](CodeImage image, int device) {
        std::string gaveUp;
        image = cuda::assembled(std::move(image), device, gaveUp);
        return std::tuple(std::move(image), std::move(gaveUp));
      },
      "image"_a, "device"_a, "The same, and what the assembler gave up on, in its words, where `assembled` may refuse it.",
      nb::call_guard<Released>());
  m.def(
      "load",
      [](const CodeImage &image) {
        nb::list kernels;
        for (KernelPtr &kernel : load(image))
          kernels.append(nb::cast(std::const_pointer_cast<Kernel>(kernel)));
        return kernels;
      },
      "The image's kernels in executable memory.");
  m.def("build_id", &buildId, "Changes with every build of this module.");
  m.def(
      "cache_get",
      [](const std::string &kind, const std::string &key) -> nb::object {
        auto value = DiskCache::instance().get(kind, key);
        return value ? nb::object(nb::bytes(value->data(), value->size())) : nb::object(nb::none());
      },
      "kind"_a, "key"_a, "bytes or None");
  m.def(
      "cache_put",
      [](const std::string &kind, const std::string &key, nb::bytes value) {
        DiskCache::instance().put(kind, key, {value.c_str(), value.size()});
      },
      "kind"_a, "key"_a, "value"_a);
  m.def("gpu_assembler_is_here", &gpuAssemblerIsHere,
        "Whether the driver's PTX compiler is here, which makes code for its GPUs.");
  m.def(
      "cache_entries",
      [] {
        nb::list rows;
        for (const DiskCache::Entry &entry : DiskCache::instance().entries())
          rows.append(nb::make_tuple(entry.kind, entry.size, double(entry.used) / 1e9));
        return rows;
      },
      "[(kind, bytes, seconds since 1970 when it was last used)] of the disk cache's files.");
  m.def("cache_limit", [] { return DiskCache::instance().limitBytes(); }, "Bytes that the disk cache keeps to.");
  m.def("cache_clear", [] { return DiskCache::instance().clear(); }, "Takes all entries away; returns how many there were.");
  m.def("cache_folder", [] { return DiskCache::instance().folder(); }, "Empty: the disk cache is off.");
  m.def("num_threads", &numThreads, "Threads that run programs, the launching one included.");
  m.def("set_num_threads", &setNumThreads, "count"_a, "0: as at the start.");
}
} // namespace tilery::python
