// CodeImage as bytes.
#include "runtime/bytes.h"
#include "tilery/runtime.h"

namespace tilery {
namespace {
constexpr uint64_t imageVersion = 0x0001'474d'4959'4c54; // "TLYIMG", version 1
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
  }
  image.host = in.text();
  if (!in.atEnd())
    ByteReader::fail();
  return image;
}
} // namespace tilery
