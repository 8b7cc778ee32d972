// Bundles of programs compiled ahead of time, made from and called with Python objects.
#include "tilery/bundle.h"
#include "binding.h"
#include "interrupts.h"
#include "launch_grid.h"
#include "launch_plan.h"
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include "tilery/counted.h"
#include <algorithm>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {
namespace {

DType dtypeOf(nb::handle name) {
  auto dtype = parseDType(nb::cast<std::string>(name));
  if (!dtype)
    throw Error({Diagnostic::Kind::Value, "there is no element type '" + nb::cast<std::string>(name) + "'", "", {}});
  return *dtype;
}

const char *const kinds[] = {"cpu",
                             "gpu",
                             "gpu exactly",
                             "address divisible",
                             "extent is",
                             "extent divisible",
                             "stride is",
                             "stride divisible",
                             "number is",
                             "disjoint",
                             "number divisible"};

BundleCondition conditionOf(nb::handle condition) {
  std::string kind = nb::cast<std::string>(condition[0]);
  auto found = std::find(std::begin(kinds), std::end(kinds), kind);
  if (found == std::end(kinds))
    throw Error({Diagnostic::Kind::Value, "a bundle has no condition '" + kind + "'", "", {}});
  return {BundleCondition::Kind(found - std::begin(kinds)), nb::cast<uint32_t>(condition[1]), nb::cast<uint32_t>(condition[2]),
          nb::cast<int64_t>(condition[3])};
}

std::string bytesOf(nb::handle value) {
  auto bytes = nb::cast<nb::bytes>(value);
  return {bytes.c_str(), bytes.size()};
}

BundleEntry entryOf(nb::handle entry) {
  BundleEntry result{nb::cast<std::string>(entry[0]), {}, nb::cast<bool>(entry[2]), {}};
  for (nb::handle p : nb::object(entry[1]))
    result.parameters.push_back({nb::cast<std::string>(p[0]), dtypeOf(nb::object(p[1])), nb::cast<int32_t>(p[2]),
                                 nb::cast<bool>(p[3]), dtypeOf(nb::object(p[4]))});
  for (nb::handle v : nb::object(entry[3])) {
    BundleVariant variant{{}, bytesOf(nb::object(v[1])), bytesOf(nb::object(v[2]))};
    for (nb::handle condition : nb::object(v[0]))
      variant.conditions.push_back(conditionOf(condition));
    result.variants.push_back(std::move(variant));
  }
  return result;
}

/// Null: it ran, or Python has raised; else why there is no code for this call.
std::optional<std::string> run(Bundle &bundle, size_t number, nb::tuple values, nb::object grid) {
  const BundleEntry &entry = bundle.entries().at(number);
  if (values.size() != entry.parameters.size())
    throw Error({Diagnostic::Kind::Type,
                 entry.name + " takes " + counted(entry.parameters.size(), "argument") + ", got " + std::to_string(values.size()),
                 "",
                 {}});
  ArgumentOwners owners;
  std::vector<Argument> arguments(values.size());
  GpuPlace gpu;
  for (size_t i = 0; i < arguments.size(); ++i) {
    readArgument(nb::object(values[i]).ptr(), entry.parameters[i].name.c_str(), arguments[i], owners);
    if (arguments[i].kind == Argument::Tensor && isGpu(arguments[i].tensor.device) && gpu.device < 0)
      gpu = {arguments[i].tensor.device.index, currentStream(arguments[i].object, arguments[i].tensor.device.index)};
  }
  std::vector<HostArgument> given(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const BundleParameter &parameter = entry.parameters[i];
    if (parameter.rank < 0) {
      ArgInfo info{parameter.name, parameter.onlyChooses ? DType::I64 : parameter.dtype, false, false};
      checkRange(arguments[i], info.dtype, parameter.name, entry.name);
      given[i].bits = slotBits(arguments[i], info, parameter.name.c_str(), entry.name.c_str(), gpu);
      continue;
    }
    const bool fits = arguments[i].kind == Argument::Tensor && arguments[i].tensor.dtype == parameter.dtype &&
                      (entry.takesGrid || arguments[i].tensor.rank == parameter.rank);
    const std::string rank = std::to_string(parameter.rank) + (parameter.rank == 1 ? " dimension" : " dimensions");
    if (!fits)
      throw Error({Diagnostic::Kind::Type,
                   "argument '" + parameter.name + "' of " + entry.name + " is " + describe(arguments[i]) + "; expected " +
                       withArticle(dtypeName(parameter.dtype)) + " tensor" + (entry.takesGrid ? "" : " of " + rank),
                   "",
                   {}});
    checkPlace(arguments[i], parameter.name.c_str(), entry.name.c_str(), gpu);
    given[i].tensor = &arguments[i].tensor;
    given[i].readOnly = arguments[i].readOnly;
  }
  int64_t extents[3] = {1, 1, 1};
  if (!grid.is_none())
    readGrid(entry.name, grid.ptr(), extents);
  std::optional<std::string> why;
  {
    Released released;
    const Bundle::Place place{gpu.device, gpu.stream, Released::interrupted(), &released};
    if (!bundle.call(number, given, grid.is_none() ? nullptr : extents, place))
      why = bundle.whyNone(number, given, place);
  }
  if (PyErr_Occurred())
    throw nb::python_error();
  return why;
}

/// Runs an entry; where depends on its tensors. As `run`.
std::optional<std::string> call(Bundle &bundle, size_t number, nb::tuple values, nb::object grid) {
  try {
    return run(bundle, number, std::move(values), std::move(grid));
  } catch (const PythonRaised &) {
    throw nb::python_error();
  }
}
} // namespace

void bindBundle(nb::module_ &m) {
  m.def(
      "bundle",
      [](nb::iterable entries) {
        std::vector<BundleEntry> all;
        for (nb::handle entry : entries)
          all.push_back(entryOf(entry));
        std::string bytes = serialize(all);
        return nb::bytes(bytes.data(), bytes.size());
      },
      "entries"_a,
      "Bytes of a bundle. Entry: (name, [(parameter, dtype, rank, only chooses, dtype in C)], takes a grid, "
      "[([(condition, argument, dim, value)], image, image without boxes)]).");
  nb::class_<Bundle>(m, "Bundle", "Programs compiled ahead of time.")
      .def(
          "__init__", [](Bundle *self, nb::bytes bytes) { new (self) Bundle({bytes.c_str(), bytes.size()}); }, "bytes"_a)
      .def_prop_ro("names",
                   [](const Bundle &bundle) {
                     std::vector<std::string> names;
                     for (const BundleEntry &entry : bundle.entries())
                       names.push_back(entry.name);
                     return names;
                   })
      .def("call", &call, "entry"_a, "arguments"_a, "grid"_a = nb::none(),
           "Runs entry number `entry`. Otherwise why it has no code for this kind of call or machine.");
  m.def(
      "image_parameters",
      [](nb::bytes bytes) {
        CodeImage image = deserialize({bytes.c_str(), bytes.size()});
        nb::list parameters;
        auto add = [&](const std::string &name, DType dtype, int64_t rank) {
          parameters.append(nb::make_tuple(name, dtypeName(dtype), rank < 0 ? nb::none() : nb::object(nb::int_(rank))));
        };
        if (!image.host.empty())
          for (const HostParameter &p : HostProgram::parse(image.host, image.kernels).parameters)
            add(p.name, p.dtype, p.rank);
        else if (image.kernels.size() == 1)
          for (const ArgInfo &argument : image.kernels[0].args)
            add(argument.name, argument.dtype, argument.pointer ? 0 : -1);
        else
          throw nb::value_error("an image without a host program has one kernel");
        return parameters;
      },
      "image"_a, "[(name, dtype, rank, or None for a number)] of what an image's host program, or its only kernel, takes.");
  m.def(
      "cpu_features_of", [](const std::string &target) { return cpuFeaturesOf(target); }, "target"_a,
      "What code for a CPU target needs, as the value of a condition `cpu`.");
}
} // namespace tilery::python
