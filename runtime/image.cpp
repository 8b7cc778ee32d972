// CodeImage as bytes.
#include "runtime/bytes.h"
#include "tilery/runtime.h"

namespace tilery {
namespace {
constexpr uint64_t imageVersion = 0x0005'474d'4959'4c54; // "TLYIMG", version 5

void write(ByteWriter &out, const PolynomialInfo &polynomial) {
  out.number<uint64_t>(polynomial.terms.size());
  for (const PolynomialInfo::Term &term : polynomial.terms) {
    out.number(term.coefficient);
    out.number<uint64_t>(term.factors.size());
    for (uint32_t factor : term.factors)
      out.number(factor);
  }
}
PolynomialInfo readPolynomial(ByteReader &in, size_t slots) {
  PolynomialInfo polynomial;
  polynomial.terms.resize(in.count());
  for (PolynomialInfo::Term &term : polynomial.terms) {
    term.coefficient = in.number<int64_t>();
    term.factors.resize(in.count());
    for (uint32_t &factor : term.factors) {
      factor = in.number<uint32_t>();
      if (factor >= slots && factor - PolynomialInfo::gridExtent >= 3)
        ByteReader::fail();
    }
  }
  return polynomial;
}

void write(ByteWriter &out, const TensorMapInfo &map) {
  out.number(map.slot);
  out.number(map.dtype);
  write(out, map.offset);
  out.number<uint64_t>(map.dimensions.size());
  for (const TensorMapInfo::Dimension &dimension : map.dimensions) {
    write(out, dimension.extent);
    write(out, dimension.stride);
    out.number(dimension.box);
  }
  out.number(map.swizzle);
}
TensorMapInfo readMap(ByteReader &in, size_t slots) {
  TensorMapInfo map;
  map.slot = in.number<uint32_t>();
  map.dtype = in.number<DType>();
  map.offset = readPolynomial(in, slots);
  map.dimensions.resize(in.count());
  for (TensorMapInfo::Dimension &dimension : map.dimensions) {
    dimension.extent = readPolynomial(in, slots);
    dimension.stride = readPolynomial(in, slots);
    dimension.box = in.number<uint32_t>();
  }
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
  out.number<uint64_t>(site.values.size());
  for (const ReportSite::Value &value : site.values) {
    out.number<uint64_t>(value.shape.size());
    for (int64_t extent : value.shape)
      out.number(extent);
    out.number(value.dtype);
  }
}
ReportSite readSite(ByteReader &in) {
  ReportSite site;
  site.assertion = in.number<uint8_t>();
  site.text = in.text();
  site.file = in.text();
  site.line = in.number<uint32_t>();
  site.column = in.number<uint32_t>();
  site.hex = in.number<uint8_t>();
  site.values.resize(in.count());
  for (ReportSite::Value &value : site.values) {
    value.shape.resize(in.count());
    for (int64_t &extent : value.shape)
      extent = in.number<int64_t>();
    value.dtype = in.number<uint32_t>();
  }
  return site;
}

void write(ByteWriter &out, const GpuInfo &gpu) {
  out.number(gpu.threads);
  out.number(gpu.sharedBytes);
  out.number(gpu.persistent);
  out.number(gpu.cluster);
  out.number(gpu.programmatic);
  out.number(gpu.workspaceBytes);
  out.number(gpu.spillBytes);
  out.number<uint64_t>(gpu.maps.size());
  for (const TensorMapInfo &map : gpu.maps)
    write(out, map);
  out.number<uint64_t>(gpu.conditions.size());
  for (const ConditionInfo &condition : gpu.conditions) {
    write(out, condition.value);
    out.number(condition.divisor);
  }
  out.number<uint64_t>(gpu.sites.size());
  for (const ReportSite &site : gpu.sites)
    write(out, site);
}
GpuInfo readGpu(ByteReader &in, size_t slots) {
  GpuInfo gpu;
  gpu.threads = in.number<uint32_t>();
  gpu.sharedBytes = in.number<uint32_t>();
  gpu.persistent = in.number<uint8_t>();
  gpu.cluster = in.number<uint32_t>();
  if (gpu.cluster == 0)
    ByteReader::fail();
  gpu.programmatic = in.number<uint8_t>();
  gpu.workspaceBytes = in.number<uint64_t>();
  gpu.spillBytes = in.number<uint32_t>();
  gpu.maps.resize(in.count());
  for (TensorMapInfo &map : gpu.maps)
    map = readMap(in, slots);
  gpu.conditions.resize(in.count());
  for (ConditionInfo &condition : gpu.conditions) {
    condition.value = readPolynomial(in, slots);
    condition.divisor = in.number<uint64_t>();
    if (condition.divisor > INT64_MAX)
      ByteReader::fail();
  }
  gpu.sites.resize(in.count());
  for (ReportSite &site : gpu.sites)
    site = readSite(in);
  return gpu;
}
} // namespace

std::string serialize(const CodeImage &image) {
  ByteWriter out;
  out.number(imageVersion);
  out.text(image.object);
  out.number<uint64_t>(image.kernels.size());
  for (const KernelInfo &kernel : image.kernels) {
    out.text(kernel.name);
    out.number(kernel.scratchBytes);
    out.number<uint64_t>(kernel.args.size());
    for (const ArgInfo &arg : kernel.args) {
      out.text(arg.name);
      out.number(arg.dtype);
      out.number(arg.pointer);
      out.number(arg.written);
    }
    write(out, kernel.gpu);
  }
  out.text(image.host);
  return std::move(out.bytes);
}

CodeImage deserialize(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.number<uint64_t>() != imageVersion)
    ByteReader::fail();
  CodeImage image;
  image.object = in.text();
  image.kernels.resize(in.count());
  for (KernelInfo &kernel : image.kernels) {
    kernel.name = in.text();
    kernel.scratchBytes = in.number<uint64_t>();
    kernel.args.resize(in.count());
    for (ArgInfo &arg : kernel.args) {
      arg.name = in.text();
      arg.dtype = in.number<DType>();
      arg.pointer = in.number<uint8_t>();
      arg.written = in.number<uint8_t>();
      if (arg.dtype > DType::F64)
        ByteReader::fail();
    }
    kernel.gpu = readGpu(in, kernel.args.size());
  }
  image.host = in.text();
  if (!in.atEnd())
    ByteReader::fail();
  return image;
}
} // namespace tilery
