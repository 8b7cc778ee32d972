// tilery._native.Builder and the handles it gives out. Names are those of include/tilery/builder.h in snake case.
#include "convert.h"
#include "enums.h"
#include "ending.h"
#include "interrupts.h"
#include "tilery/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tilery::python {

using Any = nb::handle;

/// position: a callable that gives [(file, line, column, function)], innermost first.
static void setPosition(Builder &builder, nb::object position) {
  builder.setLocationProvider([position]() {
    std::vector<SourceLocation> chain;
    for (nb::handle item : callUntilEnd(position)) {
      nb::tuple entry = nb::cast<nb::tuple>(item);
      chain.push_back(
          {nb::cast<std::string>(entry[0]), nb::cast<int>(entry[1]), nb::cast<int>(entry[2]), nb::cast<std::string>(entry[3])});
    }
    return chain;
  });
}

static nb::object shapeTuple(const Shape &shape) {
  nb::list list;
  for (int64_t size : shape)
    list.append(size);
  return nb::tuple(list);
}

static Type typeFrom(Any dtype, const Shape &shape, bool pointer, bool isConst) {
  return {toDType(dtype), shape, pointer, isConst};
}

template <BinaryOp op> static Value forward(Any x, Any y) { return currentBuilder().binary(op, toOperand(x), toOperand(y)); }
template <BinaryOp op> static Value reflected(Any x, Any y) { return currentBuilder().binary(op, toOperand(y), toOperand(x)); }
template <UnaryOp op> static Value unary(const Value &x) { return currentBuilder().unary(op, x); }

static void bindHandles(nb::module_ &m) {
  nb::class_<Type>(m, "Type")
      .def(
          "__init__",
          [](Type *self, Any dtype, Shape shape, bool pointer, bool isConst) {
            new (self) Type(typeFrom(dtype, shape, pointer, isConst));
          },
          "dtype"_a, "shape"_a = Shape(), "pointer"_a = false, "const"_a = false)
      .def_prop_ro("dtype", [](const Type &t) { return dtypeName(t.element); })
      .def_prop_ro("shape", [](const Type &t) { return shapeTuple(t.shape); })
      .def_ro("pointer", &Type::pointer)
      .def_ro("const", &Type::isConst)
      .def("__str__", &Type::str)
      .def("__repr__", &Type::str)
      .def("__eq__", [](const Type &a, const Type &b) { return a == b; })
      .def("__hash__", [](const Type &t) { return std::hash<std::string>()(t.str()) ^ t.isConst; });
  auto value = nb::class_<Value>(
                   m, "Value", "A tile value: scalar or tile of numbers or pointers. Operators build ops in the current builder.")
                   .def_ro("type", &Value::type)
                   .def_prop_ro("dtype", [](const Value &v) { return dtypeName(v.dtype()); })
                   .def_prop_ro("shape", [](const Value &v) { return shapeTuple(v.shape()); })
                   .def_prop_ro("is_pointer", [](const Value &v) { return v.type.pointer; })
                   .def("__repr__", [](const Value &v) { return "<tile value " + v.type.str() + ">"; });
  value.def("__add__", forward<BinaryOp::Add>)
      .def("__radd__", reflected<BinaryOp::Add>)
      .def("__sub__", forward<BinaryOp::Sub>)
      .def("__rsub__", reflected<BinaryOp::Sub>)
      .def("__mul__", forward<BinaryOp::Mul>)
      .def("__rmul__", reflected<BinaryOp::Mul>)
      .def("__truediv__", forward<BinaryOp::TrueDiv>)
      .def("__rtruediv__", reflected<BinaryOp::TrueDiv>)
      .def("__floordiv__", forward<BinaryOp::FloorDiv>)
      .def("__rfloordiv__", reflected<BinaryOp::FloorDiv>)
      .def("__mod__", forward<BinaryOp::Mod>)
      .def("__rmod__", reflected<BinaryOp::Mod>)
      .def("__pow__", forward<BinaryOp::Pow>)
      .def("__rpow__", reflected<BinaryOp::Pow>)
      .def("__and__", forward<BinaryOp::And>)
      .def("__rand__", reflected<BinaryOp::And>)
      .def("__or__", forward<BinaryOp::Or>)
      .def("__ror__", reflected<BinaryOp::Or>)
      .def("__xor__", forward<BinaryOp::Xor>)
      .def("__rxor__", reflected<BinaryOp::Xor>)
      .def("__lshift__", forward<BinaryOp::Shl>)
      .def("__rlshift__", reflected<BinaryOp::Shl>)
      .def("__rshift__", forward<BinaryOp::Shr>)
      .def("__rrshift__", reflected<BinaryOp::Shr>)
      .def("__lt__", forward<BinaryOp::Lt>)
      .def("__le__", forward<BinaryOp::Le>)
      .def("__gt__", forward<BinaryOp::Gt>)
      .def("__ge__", forward<BinaryOp::Ge>)
      .def("__eq__", forward<BinaryOp::Eq>)
      .def("__ne__", forward<BinaryOp::Ne>)
      .def("__hash__", [](const Value &v) { return reinterpret_cast<size_t>(v.handle); })
      .def("__neg__", unary<UnaryOp::Neg>)
      .def("__invert__", unary<UnaryOp::Invert>)
      .def("__pos__", unary<UnaryOp::Pos>)
      .def("__abs__", unary<UnaryOp::Abs>);
  nb::class_<Root>(m, "Root").def_ro("rank", &Root::rank).def_prop_ro("dtype", [](const Root &r) { return dtypeName(r.dtype); });
  nb::class_<Place>(m, "Place")
      .def_prop_ro("shape", [](const Place &p) { return shapeTuple(p.shape); })
      .def_prop_ro("dtype", [](const Place &p) { return dtypeName(p.dtype); });
  nb::class_<Buffer>(m, "Buffer")
      .def_prop_ro("shape", [](const Buffer &b) { return shapeTuple(b.shape); })
      .def_prop_ro("dtype", [](const Buffer &b) { return dtypeName(b.dtype); })
      .def_prop_ro("space", [](const Buffer &b) { return spaceName(b.space); });
  nb::class_<Barrier>(m, "Barrier").def_ro("count", &Barrier::count);
  nb::class_<TensorArg>(m, "TensorArg").def_ro("rank", &TensorArg::rank).def_prop_ro("dtype", [](const TensorArg &t) {
    return dtypeName(t.dtype);
  });
  nb::class_<Module>(m, "Module")
      .def("text", &Module::text, "locations"_a = false, "hints"_a = nb::none(), nb::call_guard<Released>())
      .def_static("parse", &Module::parse)
      .def("kernel_names", &Module::kernelNames, nb::call_guard<Released>());
}

static void bindRegions(nb::class_<Builder> &c) {
  // The protocol of python/tilery/frontend/regions.py.
  c.def("scratch_begin", &Builder::beginScratch)
      .def("scratch_discard", &Builder::discardScratch)
      .def("placeholder", [](Builder &b, Any v) { return b.placeholder(toValue(v)); })
      .def("type_of", [](Builder &, Any v) { return toValue(v).type; })
      .def("depends_on", [](Builder &b, Any value, Any other) { return b.dependsOn(toValue(value), toValue(other)); })
      .def("promise_multiple",
           [](Builder &b, Any v, int64_t divisor) {
             if (nb::isinstance<Place>(v)) { // of its rows
               auto &place = nb::cast<Place &>(v);
               return b.promiseMultiple(Value{place.handle, Type{place.dtype, place.shape}}, divisor);
             }
             b.promiseMultiple(toValue(v), divisor);
           })
      .def("visible", [](Builder &b, Any v) { return b.visible(toValue(v)); })
      .def("if_begin", [](Builder &b, Any condition) { b.beginIf(toValue(condition)); })
      .def("if_else", &Builder::beginElse)
      .def("if_end",
           [](Builder &b, nb::list thens, nb::list elses) {
             auto values = [](nb::list list) {
               std::vector<Value> result;
               for (nb::handle item : list)
                 result.push_back(item.is_none() ? Value() : toValue(item));
               return result;
             };
             return b.endIf(values(thens), values(elses));
           })
      .def(
          "for_begin",
          [](Builder &b, Any lo, Any hi, Any step, nb::object inits, nb::object attrs) {
            auto loop = b.beginFor(toValue(lo), toValue(hi), toValue(step), toValues(inits), toHints(attrs));
            return std::pair(loop.iv, loop.carried);
          },
          "lo"_a, "hi"_a, "step"_a, "inits"_a, "attrs"_a = nb::none())
      .def("for_end", [](Builder &b, Any yields) { return b.endFor(toValues(yields)); })
      .def("while_begin", [](Builder &b, Any inits) { return b.beginWhile(toValues(inits)); })
      .def("while_body", [](Builder &b, Any condition) { return b.whileBody(toValue(condition)); })
      .def("while_end", [](Builder &b, Any yields) { return b.endWhile(toValues(yields)); })
      .def("reduce_begin", [](Builder &b, Any tiles, int64_t axis) { return b.beginReduce(toValues(tiles), axis); })
      .def("reduce_end", [](Builder &b, Any yields) { return b.endReduce(toValues(yields)); })
      .def("scan_begin",
           [](Builder &b, Any tiles, int64_t axis, bool reverse) { return b.beginScan(toValues(tiles), axis, reverse); })
      .def("scan_end", [](Builder &b, Any yields) { return b.endScan(toValues(yields)); })
      .def("parallel_begin", [](Builder &b, Any extents) { return b.beginParallel(toValues(extents)); })
      .def("parallel_extend", [](Builder &b, Any extents) { return b.extendParallel(toOperands(extents)); })
      .def("effects", &Builder::effects)
      .def("statements",
           [](const Builder &b) {
             nb::list found;
             auto addresses = [](const std::vector<const void *> &buffers) {
               nb::list list;
               for (const void *buffer : buffers)
                 list.append(reinterpret_cast<uintptr_t>(buffer));
               return list;
             };
             for (const auto &statement : b.statements()) {
               nb::list where;
               for (const SourceLocation &place : statement.where)
                 where.append(nb::make_tuple(place.file, place.line, place.col, place.function));
               found.append(nb::make_tuple(addresses(statement.reads), addresses(statement.writes), statement.apart,
                                           statement.jump, where));
             }
             return found;
           })
      .def("parallel_end", &Builder::endParallel)
      .def("threads_begin", &Builder::beginThreads)
      .def("threads_end", &Builder::endThreads)
      .def("role_begin", &Builder::beginRole)
      .def("role_end", &Builder::endRole)
      .def("barriers", &Builder::barriers)
      .def("name_barriers", &Builder::name)
      .def("arrive",
           [](Builder &b, const Barrier &barrier, Any index, int64_t count) { b.arrive(barrier, toOperand(index), count); })
      .def("wait", [](Builder &b, const Barrier &barrier, Any index,
                      Any parity) { b.wait(barrier, toOperand(index), toOperand(parity)); })
      .def("in_threads", &Builder::inThreads)
      .def("together_begin", &Builder::beginTogether)
      .def("together_end", [](Builder &b, Any yields) { return b.endTogether(toValues(yields)); })
      .def("sync", &Builder::sync, "width"_a = 0, "arrivals"_a = 0)
      .def("shuffle", [](Builder &b, const std::string &mode, Any value, Any lane,
                         int64_t width) { return b.shuffle(shuffleMode(mode), toValue(value), toOperand(lane), width); })
      .def("warp_dot", [](Builder &x, Any a, Any b, Any c) { return x.warpDot(toValues(a), toValues(b), toValues(c)); })
      .def("vote", [](Builder &b, const std::string &mode, Any predicate, int64_t width) {
        return b.vote(voteMode(mode), toOperand(predicate), width);
      });
}

static void bindValues(nb::class_<Builder> &c) {
  c.def("constant", [](Builder &b, Any value, Any dtype) { return b.cast(toOperand(value), toDType(dtype)); })
      .def("materialize", [](Builder &b, Any value) { return b.materialize(toOperand(value)); })
      .def("full", [](Builder &b, Shape shape, Any value, Any dtype) { return b.full(shape, toOperand(value), toDType(dtype)); })
      .def("program_id", &Builder::programId)
      .def("num_programs", &Builder::numPrograms)
      .def("clock", &Builder::clock)
      .def("processor", &Builder::processor)
      .def("elsewhere", [](Builder &b, Any value, Any ids) { return b.elsewhere(toValue(value), toValues(ids)); })
      .def("arange", &Builder::arange)
      .def("binary",
           [](Builder &b, const std::string &op, Any x, Any y) { return b.binary(binaryOp(op), toOperand(x), toOperand(y)); })
      .def("unary", [](Builder &b, const std::string &op, Any x) { return b.unary(unaryOp(op), toValue(x)); })
      .def("math", [](Builder &b, const std::string &op, nb::args args) { return b.math(mathOp(op), toOperands(args)); })
      .def("select", [](Builder &b, Any c, Any x, Any y) { return b.select(toOperand(c), toOperand(x), toOperand(y)); })
      .def(
          "cast", [](Builder &b, Any v, Any dtype, bool rtz) { return b.cast(toOperand(v), toDType(dtype), rtz); }, "value"_a,
          "dtype"_a, "towards_zero"_a = false)
      .def(
          "cast_finite", [](Builder &b, Any v, Any dtype, bool rtz) { return b.castFinite(toOperand(v), toDType(dtype), rtz); },
          "value"_a, "dtype"_a, "towards_zero"_a = false)
      .def("bitcast", [](Builder &b, Any v, Any dtype) { return b.bitcast(toValue(v), toDType(dtype)); })
      .def(
          "common_type",
          [](Builder &b, Any x, Any y, const std::string &op) {
            return dtypeName(b.commonType(toOperand(x), toOperand(y), binaryOp(op)));
          },
          "x"_a, "y"_a, "op"_a = "+")
      .def("convert", [](Builder &b, Any v, const Type &type) { return b.convert(toOperand(v), type); })
      .def("splat", [](Builder &b, Any v, Shape shape) { return b.splat(toValue(v), shape); })
      .def("broadcast_to", [](Builder &b, Any v, Shape shape) { return b.broadcastTo(toValue(v), shape); })
      .def("broadcast", [](Builder &b, nb::args v) { return b.broadcast(toValues(v)); })
      .def("expand_dims", [](Builder &b, Any v, int64_t axis) { return b.expandDims(toValue(v), axis); })
      .def("reshape", [](Builder &b, Any v, Shape shape) { return b.reshape(toValue(v), shape); })
      .def("permute", [](Builder &b, Any v, std::vector<int64_t> order) { return b.permute(toValue(v), order); })
      .def("join", [](Builder &b, Any x, Any y) { return b.join(toValue(x), toValue(y)); })
      .def("split", [](Builder &b, Any v) { return b.split(toValue(v)); })
      .def("cat", [](Builder &b, Any x, Any y, int64_t axis) { return b.cat(toValue(x), toValue(y), axis); })
      .def("take", [](Builder &b, Any v, Any i, int64_t axis) { return b.take(toValue(v), toValue(i), axis); })
      .def("extract", [](Builder &b, Any v, Any i) { return b.extract(toValue(v), toValues(i)); })
      .def(
          "sort",
          [](Builder &b, Any v, int64_t axis, bool descending, std::optional<int64_t> keep) {
            return b.sort(toValue(v), axis, descending, keep);
          },
          "value"_a, "axis"_a, "descending"_a, "keep"_a.none() = nb::none())
      .def(
          "histogram",
          [](Builder &b, Any v, int64_t bins, Any mask) { return b.histogram(toValue(v), bins, toOptionalValue(mask)); },
          "value"_a, "bins"_a, "mask"_a = nb::none())
      .def(
          "reduce",
          [](Builder &b, const std::string &kind, Any v, std::optional<int64_t> axis, bool keep) {
            return b.reduce(reduceKind(kind), toValue(v), axis, keep);
          },
          "kind"_a, "value"_a, "axis"_a.none() = nb::none(), "keep_dims"_a = false)
      .def(
          "arg_reduce",
          [](Builder &b, bool isMax, Any v, std::optional<int64_t> axis, bool keep, bool left) {
            return b.argReduce(isMax, toValue(v), axis, keep, left);
          },
          "is_max"_a, "value"_a, "axis"_a.none() = nb::none(), "keep_dims"_a = false, "tie_break_left"_a = true)
      .def(
          "scan",
          [](Builder &b, const std::string &kind, Any v, int64_t axis, bool reverse) {
            return b.scan(reduceKind(kind), toValue(v), axis, reverse);
          },
          "kind"_a, "value"_a, "axis"_a, "reverse"_a = false)
      .def(
          "dot",
          [](Builder &b, Any x, Any y, Any acc, Any clear, Any accType, const std::string &p, int64_t partialSums) {
            return b.dot(toValue(x), toValue(y), toOptionalValue(acc), toOptionalValue(clear), toDType(accType),
                         {precision(p), partialSums});
          },
          "a"_a, "b"_a, "acc"_a.none() = nb::none(), "clear"_a.none() = nb::none(), "acc_type"_a = "float32",
          "precision"_a = "ieee", "partial_sums"_a = 0)
      .def(
          "print", [](Builder &b, const std::string &prefix, Any values, bool hex) { b.print(prefix, toValues(values), hex); },
          "prefix"_a, "values"_a, "hex"_a = false)
      .def(
          "assert_true",
          [](Builder &b, Any c, const std::string &message, Any mask) {
            b.assertTrue(toOperand(c), message, toOptionalOperand(mask));
          },
          "condition"_a, "message"_a, "mask"_a = nb::none());
}

void bindMemory(nb::class_<Builder> &c);                  // builder_memory.cpp
void bindForeign(nb::module_ &m, nb::class_<Builder> &c); // foreign.cpp

void bindBuilder(nb::module_ &m) {
  bindHandles(m);
  nb::class_<Builder> c(m, "Builder", "Builds one module of tile IR; use `with builder:` so that operators of Value find it.");
  c.def(
       "__init__", [](Builder *self, const std::string &policy) { new (self) Builder(promotionPolicy(policy)); }, "policy"_a)
      .def("set_position", setPosition)
      .def("check_overflow", &Builder::checkOverflow, "on"_a)
      .def("fast_math", &Builder::fastMath, "on"_a)
      .def("round_each", &Builder::roundEach)
      .def("__enter__",
           [](nb::object self) {
             pushBuilder(nb::cast<Builder *>(self));
             return self;
           })
      .def("__exit__", [](Builder &, nb::args) { popBuilder(); })
      .def("begin_kernel",
           [](Builder &b, const std::string &name, nb::list params) {
             std::vector<Param> list;
             for (nb::handle item : params) {
               nb::tuple p = nb::cast<nb::tuple>(item); // (name, Type, divisibility)
               list.push_back({nb::cast<std::string>(p[0]), nb::cast<Type>(p[1]), nb::cast<int64_t>(p[2])});
             }
             return b.beginKernel(name, list);
           })
      .def(
          "kernel_hints",
          [](Builder &b, nb::object hints) {
            for (const auto &[name, value] : toHints(hints))
              b.hintKernel(name, value);
          },
          "hints"_a)
      .def("meet", &Builder::meet)
      .def("buffer_used", [](const Builder &b, const Buffer &buffer) { return b.isUsed(buffer); })
      .def("end_kernel", &Builder::endKernel)
      .def("finish", &Builder::finish);
  bindRegions(c);
  bindValues(c);
  bindMemory(c);
  bindForeign(m, c);
}

} // namespace tilery::python
