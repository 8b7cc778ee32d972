#pragma once
// What a launcher keeps between its launches.
#include "launch_plan.h"
#include "launch_structured.h"
#include <Python.h>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilery::python {

struct Entry {
  int device = -1; ///< the GPU's number; -1: the CPU
  nanobind::object plan;
  const KernelPlan *kernelPlan = nullptr; ///< `plan`, if it is one
  const HostPlan *hostPlan = nullptr;     ///< `plan`, if it is one
  std::vector<uint32_t> hostSlots;        ///< parameter position of each argument of the host program
  uint64_t lastUse = 0;
};

/// A global that a trace read: `dict[key]` was `value`.
struct Watch {
  nanobind::object dict, key, value;
};

struct State {
  std::string name;
  std::vector<Parameter> parameters;
  size_t leading = 0;                        ///< parameters before the options
  nanobind::object compile, names, defaults; ///< names and defaults keep the objects alive that `parameters` borrows
  nanobind::dict unbound;                    ///< all names in order, options with their defaults
  bool layout = false;
  bool observed = false;   ///< its calls go to the method launch_observed
  bool positional = false; ///< so do calls that name arguments or give another number of them
  nanobind::object apart;  ///< structuresMet of this launcher; null: not asked yet
  ConstantTable constants;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries;
  uint64_t uses = 0; ///< a clock for Entry::lastUse
  // The last launch: equal facts need no key.
  std::vector<uint64_t> lastFacts;
  std::vector<nanobind::object> lastConstants; ///< their addresses are facts
  std::shared_ptr<Entry> lastEntry;
  uint32_t lastFlags = 0;
  std::vector<uint64_t> reused; ///< memory for the next launch's facts
  std::vector<Watch> watched;   ///< what all entries hang on beside their key

  /// Drops all entries.
  void forget() {
    auto gone = std::move(entries);
    auto last = std::move(lastEntry);
    auto met = std::move(apart);
    entries.clear();
    lastFacts.clear();
  }
  void forgetIfChanged() {
    for (const Watch &watch : watched)
      if (PyDict_GetItemWithError(watch.dict.ptr(), watch.key.ptr()) != watch.value.ptr()) {
        auto gone = std::move(watched);
        watched.clear();
        forget();
        return;
      }
  }
};

struct LauncherObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  State *state;
};

extern PyTypeObject *launcherType;

/// A call of a launcher. Null with a Python exception set. `plainly`: it does not go to launch_observed.
PyObject *launchChecked(PyObject *launcher, const PythonCall &call, bool plainly = false);

} // namespace tilery::python
