// What makes a call cheap: a type that is called without a tuple or dict (vectorcall), with a cache
// of the last few kinds of arguments. A call whose arguments are of cached kinds, and whose
// captured values are as they were, goes straight to its program; every other one goes through the
// Python package (`_call_general`), which then fills the cache (`_remember`).
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

// Python's, for PyMemberDef.
#include <structmember.h>

#include <array>
#include <memory>
#include <vector>

#include "bindings.h"
#include "program.h"

namespace lw::python {
namespace {

namespace nb = nanobind;

/// True when a list, tuple or dict holds what it did when it was copied, also further in; other
/// objects are the same, or plain values that are equal.
bool has_items(PyObject* value, PyObject* copy) {
  if (value == copy) return true;
  if (Py_TYPE(value) != Py_TYPE(copy)) return false;
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
    if (size != PySequence_Fast_GET_SIZE(copy)) return false;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (!has_items(PySequence_Fast_GET_ITEM(value, i), PySequence_Fast_GET_ITEM(copy, i))) {
        return false;
      }
    }
    return true;
  }
  if (PyDict_CheckExact(value)) {
    if (PyDict_GET_SIZE(value) != PyDict_GET_SIZE(copy)) return false;
    PyObject *key = nullptr, *item = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(copy, &at, &key, &item) != 0;) {
      PyObject* const present = PyDict_GetItemWithError(value, key);
      if (present == nullptr || !has_items(present, item)) return false;
    }
    return true;
  }
  const bool is_plain = PyFloat_CheckExact(value) || PyLong_CheckExact(value) ||
                        PyUnicode_CheckExact(value) || PyComplex_CheckExact(value);
  return is_plain && PyObject_RichCompareBool(value, copy, Py_EQ) == 1;
}

/// The type of objects that only hold an array, and where they have it (`captures.held`).
struct Holder {
  PyTypeObject* type = nullptr;
  Py_ssize_t offset = 0;

  PyObject* array_in(PyObject* value) const {  // borrowed, also null
    if (value == nullptr || Py_TYPE(value) != type) return value;
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(value) + offset);
  }
};
Holder holder;

/// Where a captured value is found, and what it has to be.
struct Capture {
  enum Expect : std::uint8_t {
    OfCode,  // a number or an array of this code: it is the value of the next parameter
    Same,    // this object
    Equal,   // of the same type as this object, and equal to it
    Items,   // a container with the items of this copy of it
    Shaped,  // an array of this shape, of which numbers below 0 stand for any
  };
  nb::object place;  // a cell, or the dict that has it under `key`
  nb::object key;    // none: a cell
  Expect expect = Same;
  Code code = 0;
  std::vector<npy_intp> shape;
  nb::object expected;

  PyObject* read() const {  // borrowed; null: there is none
    PyObject* const value =
        key.is_none() ? PyCell_GET(place.ptr()) : PyDict_GetItemWithError(place.ptr(), key.ptr());
    return expect == Same || expect == Items ? value : holder.array_in(value);
  }
  bool holds(PyObject* value) const {
    if (value == nullptr) return false;
    switch (expect) {
      case OfCode:
        return code_of(value) == code;
      case Same:
        return value == expected.ptr();
      case Equal:
        return Py_TYPE(value) == Py_TYPE(expected.ptr()) &&
               PyObject_RichCompareBool(value, expected.ptr(), Py_EQ) == 1;
      case Items:
        return has_items(value, expected.ptr());
      case Shaped:
        return has_shape(value);
    }
    return false;
  }
  bool has_shape(PyObject* value) const {
    if (Py_TYPE(value) != &PyArray_Type) return false;
    auto* const array = reinterpret_cast<PyArrayObject*>(value);
    if (PyArray_NDIM(array) != std::ssize(shape)) return false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] >= 0 && PyArray_DIM(array, static_cast<int>(d)) != shape[d]) return false;
    }
    return true;
  }
};

std::uint64_t present_epoch = 0;  // entries of earlier ones are void

/// Calls with arguments of these kinds, by position and by name, go to this program.
struct Entry {
  static constexpr std::size_t kMostArguments = 8;
  static constexpr int kNoOut = -1;

  std::size_t positional = 0;
  std::vector<nb::object> names;  // of the rest
  std::array<Code, kMostArguments> codes = {};
  int out = kNoOut;        // which one says where the result goes
  std::vector<int> order;  // of the function's: which argument, or below 0 which default
  std::vector<nb::object> defaults;
  nb::object owner;  // of the program
  Program* program = nullptr;
  MapOptions options;
  Returns returns = Returns::One;
  std::vector<Capture> captures;
  std::uint64_t epoch = 0;
  int users = 0;

  std::size_t size() const { return positional + names.size(); }

  bool fits(PyObject* const* arguments, std::size_t count, PyObject* keywords) const {
    if (count != positional || epoch != present_epoch || !has_names(keywords)) return false;
    for (std::size_t i = 0; i < size(); ++i) {
      if (static_cast<int>(i) != out && code_of(arguments[i]) != codes[i]) return false;
    }
    return true;
  }

 private:
  bool has_names(PyObject* keywords) const {
    const Py_ssize_t count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    if (count != std::ssize(names)) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {  // names in a program are interned
      if (PyTuple_GET_ITEM(keywords, i) != names[static_cast<std::size_t>(i)].ptr()) return false;
    }
    return true;
  }
};

/// An entry, shared by the cache and the calls that use it. The interpreter lock guards the count.
class EntryRef {
 public:
  EntryRef() = default;
  explicit EntryRef(Entry* entry) : entry_(entry) { ++entry_->users; }
  EntryRef(const EntryRef& other) : entry_(other.entry_) {
    if (entry_ != nullptr) ++entry_->users;
  }
  EntryRef(EntryRef&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  EntryRef& operator=(EntryRef other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~EntryRef() {
    if (entry_ != nullptr && --entry_->users == 0) delete entry_;
  }

  explicit operator bool() const { return entry_ != nullptr; }
  const Entry& operator*() const { return *entry_; }
  const Entry* operator->() const { return entry_; }

 private:
  Entry* entry_ = nullptr;
};

struct Cache {
  static constexpr std::size_t kEntries = 4;
  std::array<EntryRef, kEntries> entries;
  std::size_t next = 0;
};

struct Caller {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak_references;
  Cache* cache;
};

Caller* as_caller(PyObject* self) { return reinterpret_cast<Caller*>(self); }

/// A large Python integer may not fit the arrays beside it, which the Python package looks at.
bool is_large(PyObject* value) {
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(value, &overflow);
  return overflow != 0 || number < INT32_MIN || number > INT32_MAX;
}

/// Null without an error: the general way is needed.
PyObject* call_cached(const Entry& entry, PyObject* const* arguments) {
  PyObject* values[Inputs::kMost];
  const std::size_t count = entry.order.size();
  for (std::size_t i = 0; i < count; ++i) {
    const int from = entry.order[i];
    values[i] =
        from >= 0 ? arguments[from] : entry.defaults[static_cast<std::size_t>(-1 - from)].ptr();
    if (is_large(values[i])) return nullptr;
  }
  // Another thread may bind a captured name anew while the map runs.
  struct Held {
    ~Held() {
      for (std::size_t i = first; i < last; ++i) Py_DECREF(values[i]);
    }
    PyObject** values;
    std::size_t first, last;
  } held{values, count, count};
  for (const Capture& capture : entry.captures) {
    PyObject* const value = capture.read();
    if (!capture.holds(value)) {
      PyErr_Clear();
      return nullptr;
    }
    if (capture.expect != Capture::OfCode) continue;
    Py_INCREF(value);
    values[held.last++] = value;
  }
  const std::span<PyObject* const> all(values, held.last);
  if (entry.out == Entry::kNoOut) return entry.program->call(all, entry.options, entry.returns);
  PyObject* const out = arguments[entry.out];
  if (!entry.program->call_into({&out, 1}, all, entry.options, {})) return nullptr;
  return Py_NewRef(out);
}

thread_local int recordings = 0;  // open on this thread

PyObject* call_general(PyObject* self, PyObject* const* arguments, std::size_t count,
                       PyObject* names) {
  const nb::tuple by_position = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    Py_INCREF(arguments[i]);
    PyTuple_SET_ITEM(by_position.ptr(), static_cast<Py_ssize_t>(i), arguments[i]);
  }
  nb::dict by_name;
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyDict_SetItem(by_name.ptr(), PyTuple_GET_ITEM(names, i),
                   arguments[count + static_cast<std::size_t>(i)]);
  }
  return nb::handle(self).attr("_call_general")(by_position, by_name).release().ptr();
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  try {
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    if (recordings == 0) {
      for (const EntryRef& entry : as_caller(self)->cache->entries) {
        if (!entry) break;
        if (!entry->fits(arguments, count, names)) continue;
        const EntryRef held = entry;
        PyObject* const result = call_cached(*held, arguments);
        if (result != nullptr || PyErr_Occurred() != nullptr) return result;
        break;
      }
    }
    return call_general(self, arguments, count, names);
  } catch (...) {
    raise_current();
    return nullptr;
  }
}

// --- filling the cache ---

Capture to_capture(const nb::tuple& source) {
  Capture capture{.place = source[0], .key = source[1]};
  const auto how = nb::cast<std::string>(source[2]);
  const nb::object value = source[3];
  if (how == "value") {
    capture.expect = Capture::OfCode;
    capture.code = code_of(value.ptr());
  } else if (how == "shape") {
    capture.expect = Capture::Shaped;
    capture.shape = nb::cast<std::vector<npy_intp>>(value);
  } else {
    capture.expect = how == "same"    ? Capture::Same
                     : how == "items" ? Capture::Items
                                      : Capture::Equal;
    capture.expected = value;
  }
  return capture;
}

/// Fills in which arguments a call has; false: it is none that can be cached.
bool describe_call(Entry& entry, const nb::tuple& values, const nb::tuple& names) {
  if (values.size() > Entry::kMostArguments) return false;
  entry.positional = values.size() - names.size();
  for (const nb::handle name : names) entry.names.push_back(nb::borrow(name));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<int>(i) == entry.out) continue;
    entry.codes[i] = code_of(nb::handle(values[i]).ptr());
    if (entry.codes[i] == 0) return false;
  }
  for (const nb::object& value : entry.defaults) {
    if (code_of(value.ptr()) == 0) return false;
  }
  return true;
}

PyObject* remember(PyObject* self, PyObject* arguments) {
  try {
    const auto all = nb::borrow<nb::tuple>(arguments);
    auto entry = std::make_unique<Entry>();
    entry->out = nb::cast<int>(all[2]);
    entry->order = nb::cast<std::vector<int>>(all[3]);
    entry->defaults = nb::cast<std::vector<nb::object>>(all[4]);
    if (!describe_call(*entry, nb::cast<nb::tuple>(all[0]), nb::cast<nb::tuple>(all[1]))) {
      Py_RETURN_NONE;
    }
    entry->owner = all[5];
    entry->program = nb::cast<Program*>(entry->owner);
    for (const nb::handle source : nb::cast<nb::tuple>(all[6])) {
      entry->captures.push_back(to_capture(nb::cast<nb::tuple>(source)));
      const Capture& capture = entry->captures.back();
      if (capture.expect == Capture::OfCode && capture.code == 0) Py_RETURN_NONE;
    }
    entry->returns = nb::cast<bool>(all[7]) ? Returns::Tuple : Returns::One;
    entry->options = nb::cast<MapOptions>(all[8]);
    entry->epoch = present_epoch;
    Cache& cache = *as_caller(self)->cache;
    std::size_t place = cache.next;
    for (std::size_t i = 0; i < Cache::kEntries; ++i) {
      const EntryRef& old = cache.entries[i];
      const bool is_same = old && old->positional == entry->positional &&
                           old->codes == entry->codes && old->out == entry->out &&
                           std::equal(old->names.begin(), old->names.end(), entry->names.begin(),
                                      entry->names.end(), [](auto& a, auto& b) { return a.is(b); });
      if (is_same) place = i;
    }
    if (place == cache.next) cache.next = (cache.next + 1) % Cache::kEntries;
    // Dropping the old one may run any code, which must find the cache in order.
    const EntryRef dropped = std::exchange(cache.entries[place], EntryRef(entry.release()));
    Py_RETURN_NONE;
  } catch (...) {
    raise_current();
    return nullptr;
  }
}

void drop_entries(Cache& cache) {
  // Dropping an entry may run any code, which must find the cache in order.
  auto entries = std::move(cache.entries);
  cache.entries = {};
  cache.next = 0;
}

PyObject* forget(PyObject* self, PyObject*) {
  drop_entries(*as_caller(self)->cache);
  Py_RETURN_NONE;
}

// --- the type ---

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  as_caller(self)->vectorcall = &call;
  as_caller(self)->cache = new Cache;
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_caller(self)->dict);
  if (as_caller(self)->cache == nullptr) return 0;
  for (const EntryRef& entry : as_caller(self)->cache->entries) {
    // One that a running call holds too is not ours alone to give away.
    if (!entry || entry->users > 1) continue;
    Py_VISIT(entry->owner.ptr());
    for (const nb::object& value : entry->defaults) Py_VISIT(value.ptr());
    for (const Capture& capture : entry->captures) {
      Py_VISIT(capture.place.ptr());
      Py_VISIT(capture.key.ptr());
      Py_VISIT(capture.expected.ptr());
    }
  }
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_caller(self)->dict);
  if (as_caller(self)->cache != nullptr) drop_entries(*as_caller(self)->cache);
  return 0;
}

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (as_caller(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  clear(self);
  delete as_caller(self)->cache;
  type->tp_free(self);
  Py_DECREF(type);
}

/// Subclasses are called without a tuple as well, unless they have a __call__ of their own. Python
/// 3.12 sees to that by itself.
PyObject* init_subclass(PyObject* type, PyObject*) {
  auto* const subclass = reinterpret_cast<PyTypeObject*>(type);
  if (subclass->tp_call == &PyVectorcall_Call) {
    subclass->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(subclass);
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_remember", &remember, METH_VARARGS,
     "_remember(values, names, out, order, defaults, program, captures, returns_tuple, options): "
     "let calls with arguments of these kinds go straight to the program."},
    {"_forget", &forget, METH_NOARGS, "_forget(): empty the cache of calls."},
    {"__init_subclass__", &init_subclass, METH_CLASS | METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Caller, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Caller, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Caller, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", &PyObject_GenericGetDict, &PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&make)},
                       {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                       {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, properties},
                       {0, nullptr}};

PyType_Spec spec = {
    "lanewise._core.Caller", sizeof(Caller), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    slots};

}  // namespace

void bind_caller(nb::module_& module) {
  module.attr("Caller") = nb::steal(PyType_FromSpec(&spec));
  module.def(
      "has_items",
      [](nb::handle value, nb::handle copy) { return has_items(value.ptr(), copy.ptr()); },
      "Say whether a container holds what it did when it was copied.");
  module.def(
      "set_holder",
      [](nb::handle type, nb::handle member) {
        holder.type = reinterpret_cast<PyTypeObject*>(type.ptr());
        holder.offset = reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member->offset;
      },
      "Let captured objects of a type be the array that they have in a slot.");
  module.def(
      "forget_calls", [] { ++present_epoch; }, "Empty the caches of calls of all functions.");
  module.def(
      "enter_recording", [] { ++recordings; },
      "From now on calls of this thread go through the Python package.");
  module.def("leave_recording", [] { --recordings; }, "The end of that.");
}

}  // namespace lw::python
