// CodeImage as bytes.
#include "runtime/bytes.h"
#include "tilery/runtime.h"

namespace tilery {
namespace {
constexpr uint64_t imageVersion = 0x000a'474d'4959'4c54; // "TLYIMG", version 10

void write(ByteWriter &out, const PolynomialInfo &polynomial) {
  out.list(polynomial.terms, [&](const PolynomialInfo::Term &term) {
    out.number(term.coefficient);
    out.list(term.factors, [&](uint32_t factor) { out.number(factor); });
  });
}
PolynomialInfo readPolynomial(ByteReader &in, size_t slots) {
  PolynomialInfo polynomial;
  in.list(polynomial.terms, [&](PolynomialInfo::Term &term) {
    term.coefficient = in.number<int64_t>();
    in.list(term.factors, [&](uint32_t &factor) {
      factor = in.number<uint32_t>();
      if (factor >= slots && factor - PolynomialInfo::gridExtent >= 3)
        ByteReader::fail();
    });
  });
  return polynomial;
}

void write(ByteWriter &out, const TensorMapInfo &map) {
  out.number(map.slot);
  out.number(map.dtype);
  write(out, map.offset);
  out.list(map.dimensions, [&](const TensorMapInfo::Dimension &dimension) {
    write(out, dimension.extent);
    write(out, dimension.stride);
    out.number(dimension.box);
  });
  out.number(map.swizzle);
}
TensorMapInfo readMap(ByteReader &in, size_t slots) {
  TensorMapInfo map;
  map.slot = in.number<uint32_t>();
  map.dtype = in.number<DType>();
  map.offset = readPolynomial(in, slots);
  in.list(map.dimensions, [&](TensorMapInfo::Dimension &dimension) {
    dimension.extent = readPolynomial(in, slots);
    dimension.stride = readPolynomial(in, slots);
    dimension.box = in.number<uint32_t>();
  });
  map.swizzle = in.number<uint32_t>();
  if (map.slot >= slots || map.dtype > DType::F64 || map.dimensions.empty() || map.dimensions.size() > 5)
    ByteReader::fail();
  return map;
}

void write(ByteWriter &out, const ReportSite &site) {
  out.number(site.assertion);
  out.text(site.text);
  out.text(site.file);
  out.number(site.line);
  out.number(site.column);
  out.number(site.hex);
  out.list(site.values, [&](const ReportSite::Value &value) {
    out.list(value.shape, [&](int64_t extent) { out.number(extent); });
    out.number(value.dtype);
  });
}
ReportSite readSite(ByteReader &in) {
  ReportSite site;
  site.assertion = in.number<uint8_t>();
  site.text = in.text();
  site.file = in.text();
  site.line = in.number<uint32_t>();
  site.column = in.number<uint32_t>();
  site.hex = in.number<uint8_t>();
  in.list(site.values, [&](ReportSite::Value &value) {
    in.list(value.shape, [&](int64_t &extent) { extent = in.number<int64_t>(); });
    value.dtype = in.number<uint32_t>();
    if (value.dtype > uint32_t(DType::F64) && value.dtype != TILERY_POINTER)
      ByteReader::fail();
    int64_t left = TILERY_REPORT_BYTES; // elements: a larger value is never reported
    for (int64_t extent : value.shape) {
      if (extent < 0 || extent > left)
        ByteReader::fail();
      left = extent ? left / extent : left;
    }
  });
  return site;
}

void write(ByteWriter &out, const GpuInfo &gpu) {
  out.number(gpu.threads);
  out.number(gpu.sharedBytes);
  out.number(gpu.persistent);
  out.number(gpu.cluster);
  for (uint32_t count : gpu.joined)
    out.number(count);
  out.number(gpu.programmatic);
  out.number(gpu.workspaceBytes);
  out.number(gpu.spillBytes);
  out.list(gpu.maps, [&](const TensorMapInfo &map) { write(out, map); });
  out.list(gpu.conditions, [&](const ConditionInfo &condition) {
    write(out, condition.value);
    out.number(condition.divisor);
  });
  out.number(gpu.split.map);
  out.number(gpu.split.dimension);
  out.number(gpu.split.depth);
  out.list(gpu.sites, [&](const ReportSite &site) { write(out, site); });
}
GpuInfo readGpu(ByteReader &in, size_t slots) {
  GpuInfo gpu;
  gpu.threads = in.number<uint32_t>();
  gpu.sharedBytes = in.number<uint32_t>();
  gpu.persistent = in.number<uint8_t>();
  gpu.cluster = in.number<uint32_t>();
  if (gpu.cluster == 0)
    ByteReader::fail();
  for (uint32_t &count : gpu.joined)
    if (count = in.number<uint32_t>(); count == 0)
      ByteReader::fail();
  gpu.programmatic = in.number<uint8_t>();
  gpu.workspaceBytes = in.number<uint64_t>();
  gpu.spillBytes = in.number<uint32_t>();
  in.list(gpu.maps, [&](TensorMapInfo &map) { map = readMap(in, slots); });
  in.list(gpu.conditions, [&](ConditionInfo &condition) {
    condition.value = readPolynomial(in, slots);
    condition.divisor = in.number<uint64_t>();
    if (condition.divisor > INT64_MAX)
      ByteReader::fail();
  });
  gpu.split.map = in.number<uint32_t>();
  gpu.split.dimension = in.number<uint32_t>();
  gpu.split.depth = in.number<uint32_t>();
  if (gpu.split.depth && (gpu.split.map >= gpu.maps.size() || gpu.split.dimension >= gpu.maps[gpu.split.map].dimensions.size()))
    ByteReader::fail();
  in.list(gpu.sites, [&](ReportSite &site) { site = readSite(in); });
  return gpu;
}
} // namespace

std::string serialize(const CodeImage &image) {
  ByteWriter out;
  out.number(imageVersion);
  out.text(image.object);
  out.list(image.kernels, [&](const KernelInfo &kernel) {
    out.text(kernel.name);
    out.number(kernel.scratchBytes);
    out.number(kernel.updates);
    out.number(kernel.cooperative);
    out.list(kernel.args, [&](const ArgInfo &arg) {
      out.text(arg.name);
      out.number(arg.dtype);
      out.number(arg.pointer);
      out.number(arg.written);
    });
    write(out, kernel.gpu);
  });
  out.text(image.host);
  out.list(image.ignoredHints, [&](const std::string &name) { out.text(name); });
  return std::move(out.bytes);
}

CodeImage deserialize(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.number<uint64_t>() != imageVersion)
    ByteReader::fail();
  CodeImage image;
  image.object = in.text();
  in.list(image.kernels, [&](KernelInfo &kernel) {
    kernel.name = in.text();
    kernel.scratchBytes = in.number<uint64_t>();
    kernel.updates = in.number<Updates>();
    if (kernel.updates > Updates::Alone)
      ByteReader::fail();
    kernel.cooperative = in.number<uint8_t>();
    in.list(kernel.args, [&](ArgInfo &arg) {
      arg.name = in.text();
      arg.dtype = in.number<DType>();
      arg.pointer = in.number<uint8_t>();
      arg.written = in.number<uint8_t>();
      if (arg.dtype > DType::F64)
        ByteReader::fail();
    });
    kernel.gpu = readGpu(in, kernel.args.size());
  });
  image.host = in.text();
  in.list(image.ignoredHints, [&](std::string &name) { name = in.text(); });
  if (!in.atEnd())
    ByteReader::fail();
  return image;
}
} // namespace tilery
