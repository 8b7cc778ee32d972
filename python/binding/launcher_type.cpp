// The Python types of launchers.
#include "binding.h"
#include "launcher_state.h"
#include "limited_api.h"
#include <cstddef>
#include <structmember.h>

namespace nb = nanobind;

namespace tilery::python {
PyTypeObject *launcherType;

namespace {
PyTypeObject *boundType;

/// launcher[grid]
struct BoundObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *launcher;
  PyObject *grid;
};

PyObject *launcherCall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  return launchChecked(self, {nullptr, args, size_t(PyVectorcall_NARGS(flags)), keywords});
}

PyObject *boundCall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  auto *bound = reinterpret_cast<BoundObject *>(self);
  return launchChecked(bound->launcher, {bound->grid, args, size_t(PyVectorcall_NARGS(flags)), keywords});
}

/// bound.explain(...): launcher.explain(..., grid=grid).
PyObject *boundExplain(PyObject *self, PyObject *args, PyObject *keywords) {
  auto *bound = reinterpret_cast<BoundObject *>(self);
  try {
    nb::dict named = keywords ? nb::steal<nb::dict>(PyDict_Copy(keywords)) : nb::dict();
    if (named.contains("grid")) {
      PyErr_SetString(PyExc_TypeError, "explain() got multiple values for keyword argument 'grid'");
      return nullptr;
    }
    named["grid"] = nb::handle(bound->grid);
    return nb::handle(bound->launcher).attr("explain")(*nb::borrow<nb::tuple>(args), **named).release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  }
  return nullptr;
}

PyObject *launcherSubscript(PyObject *self, PyObject *grid) {
  auto *bound = PyObject_GC_New(BoundObject, boundType);
  if (!bound)
    return nullptr;
  bound->vectorcall = boundCall;
  bound->launcher = Py_NewRef(self);
  bound->grid = Py_NewRef(grid);
  PyObject_GC_Track(bound);
  return reinterpret_cast<PyObject *>(bound);
}

void readParameters(State &state, nb::handle params) {
  nb::list names, defaults;
  bool seenOption = false;
  for (nb::handle item : params) {
    nb::tuple tuple = nb::cast<nb::tuple>(item);
    nb::str name = nb::cast<nb::str>(tuple[0]);
    PyObject *interned = name.release().ptr();
    PyUnicode_InternInPlace(&interned);
    names.append(nb::steal(interned));
    std::string kind = nb::cast<nb::str>(tuple[1]).c_str();
    Parameter parameter{interned, PyUnicode_AsUTF8(interned), Parameter::Runtime, nullptr};
    if (kind == "plain")
      parameter.kind = Parameter::Plain;
    else if (kind == "constexpr")
      parameter.kind = Parameter::Constexpr;
    else if (kind == "option")
      parameter.kind = Parameter::Option;
    else if (kind != "runtime")
      throw nb::value_error("a parameter is 'runtime', 'plain', 'constexpr' or 'option'");
    if (seenOption && parameter.kind != Parameter::Option)
      throw nb::value_error("options come last");
    seenOption = parameter.kind == Parameter::Option;
    if (nb::len(tuple) > 2) {
      defaults.append(tuple[2]);
      parameter.defaultValue = nb::object(tuple[2]).ptr();
    } else if (seenOption) {
      parameter.defaultValue = Py_None;
    }
    state.parameters.push_back(parameter);
    state.leading += !seenOption;
    state.unbound[nb::handle(interned)] = nb::handle(seenOption ? parameter.defaultValue : Py_None);
  }
  if (state.parameters.size() > 255)
    throw nb::value_error("more than 255 parameters");
  state.names = names;
  state.defaults = defaults;
}

int launcherInit(PyObject *self, PyObject *args, PyObject *keywords) {
  static const char *known[] = {"name", "params", "compile", "layout", "positional", nullptr};
  const char *name;
  PyObject *params, *compile;
  int layout = 0, positional = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOO|pp", const_cast<char **>(known), &name, &params, &compile, &layout,
                                   &positional))
    return -1;
  try {
    auto state = std::make_unique<State>();
    state->name = name;
    state->layout = layout;
    state->positional = positional;
    state->compile = nb::borrow(compile);
    readParameters(*state, params);
    auto *launcher = reinterpret_cast<LauncherObject *>(self);
    delete std::exchange(launcher->state, state.release());
    launcher->vectorcall = launcherCall;
    return 0;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
  return -1;
}

int launcherTraverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  if (State *state = reinterpret_cast<LauncherObject *>(self)->state) {
    Py_VISIT(state->compile.ptr());
    Py_VISIT(state->names.ptr());
    Py_VISIT(state->defaults.ptr());
    Py_VISIT(state->unbound.ptr());
    Py_VISIT(state->constants.dictionary());
    Py_VISIT(state->apart.ptr());
    for (auto &[key, entry] : state->entries)
      Py_VISIT(entry->plan.ptr());
    for (nb::object &object : state->lastConstants)
      Py_VISIT(object.ptr());
    for (Watch &watch : state->watched) {
      Py_VISIT(watch.dict.ptr());
      Py_VISIT(watch.value.ptr());
    }
  }
  return 0;
}

int launcherClear(PyObject *self) {
  delete std::exchange(reinterpret_cast<LauncherObject *>(self)->state, nullptr);
  return 0;
}

void launcherDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  launcherClear(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/// Forgets all specialisations.
PyObject *launcherForget(PyObject *self, PyObject *) {
  if (State *state = reinterpret_cast<LauncherObject *>(self)->state)
    state->forget();
  Py_RETURN_NONE;
}

PyObject *launcherObserve(PyObject *self, PyObject *on) {
  if (State *state = reinterpret_cast<LauncherObject *>(self)->state)
    state->observed = PyObject_IsTrue(on) == 1;
  Py_RETURN_NONE;
}

PyObject *launcherName(PyObject *self, void *) {
  const State *state = reinterpret_cast<LauncherObject *>(self)->state;
  return PyUnicode_FromString(state ? state->name.c_str() : "");
}

/// launch_plainly(grid, *args, **kwargs): what launch_observed calls between its functions.
PyObject *launcherLaunchPlainly(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "launch_plainly(grid, ...) needs a grid");
    return nullptr;
  }
  PyObject *grid = args[0] == Py_None ? nullptr : args[0];
  return launchChecked(self, {grid, args + 1, size_t(count) - 1, keywords}, /*plainly=*/true);
}

/// watch([(dict, key, value)]): replaces the list of globals whose change makes all specialisations stale.
PyObject *launcherWatch(PyObject *self, PyObject *list) {
  State *state = reinterpret_cast<LauncherObject *>(self)->state;
  try {
    std::vector<Watch> watched;
    for (nb::handle item : nb::handle(list)) {
      nb::tuple watch = nb::cast<nb::tuple>(item);
      watched.push_back({nb::cast<nb::dict>(watch[0]), watch[1], watch[2]});
    }
    if (state)
      state->watched.swap(watched);
    Py_RETURN_NONE;
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return nullptr;
}

int boundTraverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<BoundObject *>(self)->launcher);
  Py_VISIT(reinterpret_cast<BoundObject *>(self)->grid);
  return 0;
}
void boundDealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(reinterpret_cast<BoundObject *>(self)->launcher);
  Py_DECREF(reinterpret_cast<BoundObject *>(self)->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMemberDef launcherMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, vectorcall), READONLY, nullptr},
                                 {}};
PyMemberDef boundMembers[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, vectorcall), READONLY, nullptr}, {}};
PyGetSetDef launcherProperties[] = {{"kernel_name", launcherName, nullptr, "What messages call it.", nullptr}, {}};
PyMethodDef launcherMethods[] = {
    {"forget", launcherForget, METH_NOARGS, "Forgets all compiled specialisations."},
    {"watch", launcherWatch, METH_O,
     "watch([(dict, key, value)]): specialisations are forgotten once one of dict[key] is another object."},
    {"observe", launcherObserve, METH_O, "observe(on): whether this launcher's calls go to its method launch_observed."},
    {"launch_plainly", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launcherLaunchPlainly)),
     METH_FASTCALL | METH_KEYWORDS, "launch_plainly(grid, *args, **kwargs): a call that does not go to launch_observed."},
    {}};
PyMethodDef boundMethods[] = {{"explain", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(boundExplain)),
                               METH_VARARGS | METH_KEYWORDS, "The launcher's `explain` over this grid."},
                              {}};
PyType_Slot launcherSlots[] = {
    {Py_tp_doc, const_cast<char *>("Launcher(name, params, compile, layout=False, positional=False): specialises, compiles and "
                                   "launches. See docs/reference/python.md.")},
    {Py_tp_init, reinterpret_cast<void *>(launcherInit)},
    {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void *>(launcherTraverse)},
    {Py_tp_clear, reinterpret_cast<void *>(launcherClear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(launcherDealloc)},
    {Py_mp_subscript, reinterpret_cast<void *>(launcherSubscript)},
    {Py_tp_members, launcherMembers},
    {Py_tp_getset, launcherProperties},
    {Py_tp_methods, launcherMethods},
    {0, nullptr}};
PyType_Slot boundSlots[] = {{Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                            {Py_tp_traverse, reinterpret_cast<void *>(boundTraverse)},
                            {Py_tp_dealloc, reinterpret_cast<void *>(boundDealloc)},
                            {Py_tp_members, boundMembers},
                            {Py_tp_methods, boundMethods},
                            {0, nullptr}};
PyType_Spec launcherSpec = {"tilery._native.Launcher", sizeof(LauncherObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                            launcherSlots};
PyType_Spec boundSpec = {"tilery._native.BoundLauncher", sizeof(BoundObject), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, boundSlots};
} // namespace

void bindLauncher(nb::module_ &m) {
  launcherType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&launcherSpec));
  boundType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&boundSpec));
  if (!launcherType || !boundType)
    throw nb::python_error();
  m.attr("Launcher") = nb::handle(reinterpret_cast<PyObject *>(launcherType));
}
} // namespace tilery::python
