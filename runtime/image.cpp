// CodeImage as bytes.
#include "runtime/bytes.h"
#include "tilery/runtime.h"

namespace tilery {
namespace {
constexpr uint64_t imageVersion = 0x0003'474d'4959'4c54; // "TLYIMG", version 3

void write(ByteWriter &out, const LinearInfo &linear) {
  out.number(linear.constant);
  out.number<uint64_t>(linear.terms.size());
  for (const LinearInfo::Term &term : linear.terms) {
    out.number(term.slot);
    out.number(term.coefficient);
  }
}
LinearInfo readLinear(ByteReader &in, size_t slots) {
  LinearInfo linear;
  linear.constant = in.number<int64_t>();
  linear.terms.resize(in.count());
  for (LinearInfo::Term &term : linear.terms) {
    term.slot = in.number<uint32_t>();
    term.coefficient = in.number<int64_t>();
    if (term.slot >= slots)
      ByteReader::fail();
  }
  return linear;
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
  out.number(gpu.workspaceBytes);
  out.number<uint64_t>(gpu.maps.size());
  for (const TensorMapInfo &map : gpu.maps) {
    out.number(map.slot);
    out.number(map.dtype);
    write(out, map.extents[0]);
    write(out, map.extents[1]);
    write(out, map.stride);
    out.number(map.box[0]);
    out.number(map.box[1]);
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
  gpu.workspaceBytes = in.number<uint64_t>();
  gpu.maps.resize(in.count());
  for (TensorMapInfo &map : gpu.maps) {
    map.slot = in.number<uint32_t>();
    map.dtype = in.number<DType>();
    map.extents[0] = readLinear(in, slots);
    map.extents[1] = readLinear(in, slots);
    map.stride = readLinear(in, slots);
    map.box[0] = in.number<uint32_t>();
    map.box[1] = in.number<uint32_t>();
    if (map.slot >= slots || map.dtype > DType::F64)
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
