// Host programs as bytes, and the checks that let them run unchecked.
#include "runtime/bytes.h"
#include "tilery/host.h"

namespace tilery {
namespace {
constexpr uint32_t hostVersion = 1;

/// Walks the code once: every operand must name something that exists, and the last operation returns. Notes which parameters
/// kernels write.
class Validator {
public:
  Validator(HostProgram &program, std::span<const KernelInfo> kernels)
      : program(program), kernels(kernels), ranks(program.tensors, -1) {
    for (size_t i = 0; i < program.parameters.size() && i < ranks.size(); ++i)
      ranks[i] = program.parameters[i].rank;
  }
  void run() {
    while (!step()) {
    }
    if (at != program.code.size())
      ByteReader::fail();
  }

private:
  int64_t word() {
    if (at >= program.code.size())
      ByteReader::fail();
    return program.code[at++];
  }
  int64_t below(size_t limit) {
    int64_t value = word();
    if (value < 0 || size_t(value) >= limit)
      ByteReader::fail();
    return value;
  }
  void registers(int count) {
    for (int i = 0; i < count; ++i)
      below(program.registers);
  }
  size_t tensor() {
    size_t number = size_t(below(ranks.size()));
    if (ranks[number] < 0)
      ByteReader::fail(); // a scalar, or made later
    return number;
  }
  bool step() {
    HostOp op = HostOp(below(size_t(HostOp::Return) + 1));
    switch (op) {
    case HostOp::Constant:
      registers(1), word();
      break;
    case HostOp::Scalar:
      registers(1), below(program.parameters.size());
      break;
    case HostOp::Extent:
    case HostOp::Stride: {
      registers(1);
      below(size_t(ranks[tensor()]));
      break;
    }
    case HostOp::Pointer:
      registers(1), tensor();
      break;
    case HostOp::Select:
      registers(4);
      break;
    case HostOp::SignExtend:
    case HostOp::ZeroExtend:
      registers(2);
      if (below(65) == 0)
        ByteReader::fail();
      break;
    case HostOp::Check:
      registers(2), below(program.texts.size()), below(2);
      break;
    case HostOp::Empty: {
      int64_t made = below(ranks.size());
      below(size_t(DType::F64) + 1), below(2);
      int64_t rank = below(64);
      if (ranks[made] >= 0 || size_t(made) < program.parameters.size())
        ByteReader::fail();
      registers(int(rank));
      ranks[made] = int32_t(rank);
      break;
    }
    case HostOp::Launch: {
      const KernelInfo &kernel = kernels[size_t(below(kernels.size()))];
      registers(int(below(4)));
      int64_t count = word();
      if (count < 0 || size_t(count) != kernel.args.size())
        ByteReader::fail();
      for (int64_t i = 0; i < count; ++i) {
        registers(1);
        if (at < program.code.size() && program.code[at] == -1)
          ++at;
        else if (size_t number = tensor(); number < program.parameters.size())
          program.parameters[number].written |= kernel.args[size_t(i)].written;
      }
      break;
    }
    case HostOp::Return: {
      int64_t count = below(ranks.size() + 1);
      for (int64_t i = 0; i < count; ++i)
        tensor();
      return true;
    }
    default:
      registers(3);
      break;
    }
    return false;
  }

  HostProgram &program;
  std::span<const KernelInfo> kernels;
  size_t at = 0;
  std::vector<int32_t> ranks;
};
} // namespace

std::string HostProgram::serialize() const {
  ByteWriter out;
  out.number(hostVersion);
  out.text(name);
  out.list(parameters, [&](const HostParameter &parameter) {
    out.text(parameter.name);
    out.number(parameter.dtype);
    out.number(parameter.rank);
  });
  out.number(registers);
  out.number(tensors);
  out.list(texts, [&](const std::string &text) { out.text(text); });
  out.list(code, [&](int64_t word) { out.number(word); });
  return std::move(out.bytes);
}

HostProgram HostProgram::parse(std::string_view bytes, std::span<const KernelInfo> kernels) {
  ByteReader in(bytes);
  if (in.number<uint32_t>() != hostVersion)
    ByteReader::fail();
  HostProgram program;
  program.name = in.text();
  in.list(program.parameters, [&](HostParameter &parameter) {
    parameter.name = in.text();
    parameter.dtype = in.number<DType>();
    parameter.rank = in.number<int32_t>();
    if (parameter.dtype > DType::F64 || parameter.rank < -1 || parameter.rank > 64)
      ByteReader::fail();
  });
  program.registers = in.number<uint32_t>();
  program.tensors = in.number<uint32_t>();
  in.list(program.texts, [&](std::string &text) { text = in.text(); });
  in.list(program.code, [&](int64_t &word) { word = in.number<int64_t>(); });
  // Each register and each tensor that is no parameter takes a word of code where it is made.
  if (!in.atEnd() || program.registers > program.code.size() || program.tensors < program.parameters.size() ||
      program.tensors - program.parameters.size() > program.code.size())
    ByteReader::fail();
  Validator(program, kernels).run();
  return program;
}
} // namespace tilery
