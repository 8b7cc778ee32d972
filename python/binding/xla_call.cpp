// Kernels called by XLA: handlers of its foreign function interface, for JAX. The machine code, a bundle, is an attribute of the call, so
// that a compiled or exported program of XLA has all that it runs.
#include "binding.h"
#include "tilery/bundle.h"
#include "tilery/diagnostic.h"
#include <algorithm>

#if __has_include("xla/ffi/api/ffi.h")
#include "xla/ffi/api/ffi.h"
#define TILERY_XLA
#endif

namespace nb = nanobind;

namespace tilery::python {
namespace {
#ifdef TILERY_XLA
namespace ffi = xla::ffi;

/// What a call is told when XLA makes its program, once. `Gpu`: XLA's platforms number their types each for itself.
template <bool Gpu> struct XlaCall {
  static ffi::TypeId id;
  static const XLA_FFI_TypeInfo info;

  Bundle bundle;                ///< of one entry
  std::vector<int64_t> places;  ///< of the entry's parameters: an operand, or behind those a result; -1 - n: number n
  std::vector<int64_t> numbers; ///< as bits
  std::vector<int64_t> grid;    ///< three extents, or none
  std::vector<int64_t> ranks;   ///< of operands and results, without the axes of a batch in front
  std::vector<int64_t> widths;  ///< of the same: bytes of an element

  bool fits() const {
    const BundleEntry &entry = bundle.entries().at(0);
    const auto isPlace = [&](int64_t place) { return place < int64_t(ranks.size()) && -1 - place < int64_t(numbers.size()); };
    return bundle.entries().size() == 1 && places.size() == entry.parameters.size() && std::ranges::all_of(places, isPlace) &&
           ranks.size() == widths.size() && grid.size() == (entry.takesGrid ? 3 : 0);
  }
};
template <bool Gpu> ffi::TypeId XlaCall<Gpu>::id = {};
template <bool Gpu> const XLA_FFI_TypeInfo XlaCall<Gpu>::info = ffi::MakeTypeInfo<XlaCall<Gpu>>();

std::vector<int64_t> listed(ffi::Span<const int64_t> numbers) { return {numbers.begin(), numbers.end()}; }

template <bool Gpu>
ffi::ErrorOr<std::unique_ptr<XlaCall<Gpu>>> instantiate(std::string_view bundle, ffi::Span<const int64_t> grid,
                                                        ffi::Span<const int64_t> numbers, ffi::Span<const int64_t> places,
                                                        ffi::Span<const int64_t> ranks, ffi::Span<const int64_t> widths) {
  try {
    auto call = std::unique_ptr<XlaCall<Gpu>>(
        new XlaCall<Gpu>{Bundle(bundle), listed(places), listed(numbers), listed(grid), listed(ranks), listed(widths)});
    if (!call->fits())
      return ffi::Unexpected(ffi::Error::InvalidArgument("the attributes of this call are no call of its kernel"));
    return call;
  } catch (const std::exception &error) {
    return ffi::Unexpected(ffi::Error::InvalidArgument(error.what()));
  }
}

/// Where a buffer of a call lies for each element of a batch.
struct Buffer {
  std::byte *data;
  std::vector<int64_t> extents, strides; ///< in elements; the batch's axes first
  int64_t width = 1;                     ///< bytes of an element
};

/// The extents of the batch, whose axes stand in front: an operand has 1 where all elements of the batch share it.
class Batch {
public:
  Batch(std::span<const Buffer> buffers, std::span<const int64_t> ranks) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      const size_t axes = buffers[i].extents.size() - size_t(ranks[i]);
      extents.resize(std::max(extents.size(), axes), 1);
      for (size_t axis = 0; axis < axes; ++axis)
        if (const int64_t extent = buffers[i].extents[axis]; extent != 1)
          extents[axis] = extent;
    }
  }
  int64_t count() const {
    int64_t product = 1;
    for (int64_t extent : extents)
      product *= extent;
    return product;
  }
  bool has(const Buffer &buffer, int64_t rank) const {
    const size_t axes = buffer.extents.size() - size_t(rank);
    for (size_t axis = 0; axis < axes; ++axis)
      if (buffer.extents[axis] != 1 && buffer.extents[axis] != extents[axis])
        return false;
    return axes == 0 || axes == extents.size();
  }
  /// Where the buffer's part of element `number` begins.
  void *at(const Buffer &buffer, int64_t rank, int64_t number) const {
    std::byte *data = buffer.data;
    for (size_t axis = buffer.extents.size() - size_t(rank); axis-- > 0; number /= extents[axis])
      if (buffer.extents[axis] != 1)
        data += number % extents[axis] * buffer.strides[axis] * buffer.width;
    return data;
  }

private:
  std::vector<int64_t> extents;
};

ffi::Error wrong(const std::string &message) { return ffi::Error::InvalidArgument(message); }

/// Adds the buffers of a call to `all`, as its handler sees them. False: they are none.
template <typename Buffers> bool addBuffers(const Buffers &given, std::vector<Buffer> &all, std::span<const int64_t> widths) {
  for (size_t i = 0; i < given.size(); ++i) {
    auto buffer = given.template get<ffi::AnyBuffer>(i);
    if (!buffer.has_value() || all.size() >= widths.size())
      return false;
    const ffi::AnyBuffer &found = [&]() -> const ffi::AnyBuffer & {
      if constexpr (std::is_same_v<Buffers, ffi::RemainingRets>)
        return **buffer;
      else
        return *buffer;
    }();
    Buffer own{static_cast<std::byte *>(found.untyped_data()), {found.dimensions().begin(), found.dimensions().end()}, {}, 1};
    own.width = widths[all.size()];
    own.strides.resize(own.extents.size());
    int64_t dense = 1;
    for (size_t axis = own.extents.size(); axis-- > 0; dense *= own.extents[axis])
      own.strides[axis] = dense;
    all.push_back(std::move(own));
  }
  return true;
}

template <bool Gpu>
ffi::Error execute(XlaCall<Gpu> *call, ffi::RemainingArgs args, ffi::RemainingRets rets, Bundle::Place place) {
  std::vector<Buffer> buffers;
  if (!addBuffers(args, buffers, call->widths) || !addBuffers(rets, buffers, call->widths) ||
      buffers.size() != call->ranks.size())
    return wrong("this call has other operands and results than its kernel");
  for (size_t i = 0; i < buffers.size(); ++i)
    if (int64_t(buffers[i].extents.size()) < call->ranks[i])
      return wrong("an operand or result of this call has fewer dimensions than its kernel takes");
  const Batch batch(buffers, call->ranks);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!batch.has(buffers[i], call->ranks[i]))
      return wrong("operands and results of this call have batches of different extents");
  const BundleEntry &entry = call->bundle.entries()[0];
  std::vector<Tensor> tensors(call->places.size());
  std::vector<HostArgument> given(call->places.size());
  try {
    for (int64_t number = 0; number < batch.count(); ++number) {
      for (size_t i = 0; i < given.size(); ++i) {
        if (call->places[i] < 0) {
          given[i].bits = uint64_t(call->numbers[-1 - call->places[i]]);
          continue;
        }
        const Buffer &buffer = buffers[call->places[i]];
        const int64_t rank = call->ranks[call->places[i]], axes = int64_t(buffer.extents.size()) - rank;
        tensors[i] = {batch.at(buffer, rank, number), entry.parameters[i].dtype,    int32_t(rank),
                      buffer.extents.data() + axes,   buffer.strides.data() + axes, {Gpu ? 2 : 1, std::max(place.device, 0)}};
        given[i].tensor = &tensors[i];
      }
      if (!call->bundle.call(0, given, call->grid.empty() ? nullptr : call->grid.data(), place))
        return wrong(entry.name + " was not compiled for this machine");
    }
  } catch (const Error &error) {
    return wrong(error.diagnostic().message);
  } catch (const std::exception &error) {
    return wrong(error.what());
  }
  return ffi::Error::Success();
}

template <bool Gpu> XLA_FFI_Error *instantiateHandler(XLA_FFI_CallFrame *frame) {
  static auto *handler = ffi::Ffi::BindInstantiate()
                             .Attr<std::string_view>("bundle")
                             .Attr<ffi::Span<const int64_t>>("grid")
                             .Attr<ffi::Span<const int64_t>>("numbers")
                             .Attr<ffi::Span<const int64_t>>("places")
                             .Attr<ffi::Span<const int64_t>>("ranks")
                             .Attr<ffi::Span<const int64_t>>("widths")
                             .To(instantiate<Gpu>)
                             .release();
  return handler->Call(frame);
}

XLA_FFI_Error *executeOnCpu(XLA_FFI_CallFrame *frame) {
  static auto *handler = ffi::Ffi::Bind()
                             .Ctx<ffi::State<XlaCall<false>>>()
                             .RemainingArgs()
                             .RemainingRets()
                             .Attrs()
                             .To([](XlaCall<false> *call, ffi::RemainingArgs args, ffi::RemainingRets rets, ffi::Dictionary) {
                               return execute(call, args, rets, {});
                             })
                             .release();
  return handler->Call(frame);
}

XLA_FFI_Error *executeOnGpu(XLA_FFI_CallFrame *frame) {
  static auto *handler =
      ffi::Ffi::Bind()
          .Ctx<ffi::State<XlaCall<true>>>()
          .Ctx<ffi::PlatformStream<void *>>()
          .Ctx<ffi::DeviceOrdinal>()
          .RemainingArgs()
          .RemainingRets()
          .Attrs()
          .To([](XlaCall<true> *call, void *stream, int32_t device, ffi::RemainingArgs args, ffi::RemainingRets rets,
                 ffi::Dictionary) { return execute(call, args, rets, {.device = device, .stream = stream}); })
          .release();
  return handler->Call(frame);
}

template <bool Gpu> nb::dict registration(XLA_FFI_Error *(*execute)(XLA_FFI_CallFrame *)) {
  auto capsule = [](auto *pointer) { return nb::capsule(reinterpret_cast<const void *>(pointer)); };
  nb::dict type, target, all;
  type["type_id"] = capsule(&XlaCall<Gpu>::id);
  type["type_info"] = capsule(&XlaCall<Gpu>::info);
  target["instantiate"] = capsule(&instantiateHandler<Gpu>);
  target["execute"] = capsule(execute);
  all["type"] = type;
  all["target"] = target;
  return all;
}
#endif
} // namespace

void bindXlaCall(nb::module_ &m) {
  m.def(
      "xla_registrations",
      [] {
        nb::dict platforms;
#ifdef TILERY_XLA
        platforms["cpu"] = registration<false>(&executeOnCpu);
        platforms["CUDA"] = registration<true>(&executeOnGpu);
#endif
        return platforms;
      },
      "{platform of XLA: {\"type\": what jax.ffi.register_ffi_type takes, \"target\": what register_ffi_target takes}}; empty: "
      "this "
      "module was built without XLA's headers.");
}
} // namespace tilery::python
