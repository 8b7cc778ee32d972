// The interpreter of host programs.
#include "runtime/article.h"
#include "tilery/host.h"
#include "tilery/diagnostic.h"
#include "tilery/counted.h"
#include <algorithm>
#include <cstddef>
#include <list>
#include <memory_resource>

namespace tilery {
namespace {

[[noreturn]] void refuse(std::string message, Diagnostic::Kind kind = Diagnostic::Kind::Value) {
  throw Error({kind, std::move(message), "", {}});
}

std::string shapeText(const Tensor &tensor) {
  std::string text;
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    text += (dim ? ", " : "") + std::to_string(tensor.extents[dim]);
  return "(" + text + (tensor.rank == 1 ? ",)" : ")");
}

/// "expected 5, got 3" style messages: {0} and {1} stand for the values.
std::string filled(std::string text, int64_t first, int64_t second) {
  for (auto [mark, value] : {std::pair("{0}", first), std::pair("{1}", second)})
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, 3, std::to_string(value));
  return text;
}

int64_t quotient(int64_t a, int64_t b, bool floor) {
  if (b == 0)
    return 0;
  if (b == -1)
    return int64_t(0 - uint64_t(a));
  int64_t q = a / b;
  return floor && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t binary(HostOp op, int64_t a, int64_t b) {
  uint64_t x = uint64_t(a), y = uint64_t(b);
  switch (op) {
  case HostOp::Add:
    return int64_t(x + y);
  case HostOp::Sub:
    return int64_t(x - y);
  case HostOp::Mul:
    return int64_t(x * y);
  case HostOp::DivTrunc:
    return quotient(a, b, false);
  case HostOp::DivFloor:
    return quotient(a, b, true);
  case HostOp::DivUnsigned:
    return y ? int64_t(x / y) : 0;
  case HostOp::RemTrunc:
    return b ? int64_t(x - uint64_t(quotient(a, b, false)) * y) : 0;
  case HostOp::RemFloor:
    return b ? int64_t(x - uint64_t(quotient(a, b, true)) * y) : 0;
  case HostOp::RemUnsigned:
    return y ? int64_t(x % y) : 0;
  case HostOp::MinSigned:
    return std::min(a, b);
  case HostOp::MaxSigned:
    return std::max(a, b);
  case HostOp::MinUnsigned:
    return int64_t(std::min(x, y));
  case HostOp::MaxUnsigned:
    return int64_t(std::max(x, y));
  case HostOp::And:
    return a & b;
  case HostOp::Or:
    return a | b;
  case HostOp::Xor:
    return a ^ b;
  case HostOp::Equal:
    return a == b;
  case HostOp::NotEqual:
    return a != b;
  case HostOp::Less:
    return a < b;
  case HostOp::LessEqual:
    return a <= b;
  case HostOp::LessUnsigned:
    return x < y;
  case HostOp::LessEqualUnsigned:
    return x <= y;
  default:
    return 0;
  }
}

int64_t extend(int64_t value, int64_t bits, bool isSigned) {
  if (bits >= 64)
    return value;
  uint64_t shifted = uint64_t(value) << (64 - bits);
  return isSigned ? int64_t(shifted) >> (64 - bits) : int64_t(shifted >> (64 - bits));
}

/// One run of a program.
struct Frame {
  Frame(const HostProgram &program, std::span<const HostArgument> args, std::span<const KernelPtr> kernels,
        HostEnvironment &environment)
      : program(program), args(args), kernels(kernels), environment(environment) {}

  const HostProgram &program;
  std::span<const HostArgument> args;
  std::span<const KernelPtr> kernels;
  HostEnvironment &environment;
  std::byte storage[2048]; ///< most programs need no more, so that their launches ask for no memory
  std::pmr::monotonic_buffer_resource memory{storage, sizeof storage};
  std::pmr::vector<int64_t> registers{program.registers, &memory};
  std::pmr::vector<Tensor> tensors{program.tensors, &memory};
  std::list<std::vector<int64_t>> layouts; ///< extents and strides of the tensors made here

  bool empty(const int64_t *operand) {
    Tensor &tensor = tensors[operand[0]];
    tensor.dtype = DType(operand[1]);
    tensor.rank = int32_t(operand[3]);
    std::vector<int64_t> &layout = layouts.emplace_back(2 * tensor.rank);
    int64_t elements = 1;
    for (int32_t dim = tensor.rank; dim-- > 0;) {
      int64_t extent = registers[operand[4 + dim]];
      if (extent < 0)
        refuse(program.name + " makes a tensor of a negative extent: " + std::to_string(extent));
      layout[dim] = extent;
      layout[tensor.rank + dim] = elements;
      if (__builtin_mul_overflow(elements, std::max<int64_t>(extent, 1), &elements) || elements > INT64_MAX / 16)
        refuse(program.name + " makes a tensor that is larger than the address space");
    }
    tensor.extents = layout.data();
    tensor.strides = layout.data() + tensor.rank;
    tensor.data = environment.allocate({layout.data(), size_t(tensor.rank)}, tensor.dtype, operand[2] != 0);
    return tensor.data != nullptr;
  }

  /// Advances `operand` past the launch.
  bool launch(const int64_t *&operand) {
    const Kernel &kernel = *kernels[*operand++];
    int64_t grid[3] = {1, 1, 1}, rank = *operand++;
    for (int64_t axis = 0; axis < rank; ++axis)
      grid[axis] = registers[*operand++];
    int64_t count = *operand++;
    std::pmr::vector<uint64_t> slots(size_t(count), &memory);
    for (int64_t i = 0; i < count; ++i)
      slots[i] = uint64_t(registers[operand[2 * i]]);
    uint32_t flags = kernel.gpuCode() ? 0 : flagsOf(kernel, {operand, size_t(2 * count)}); // GPUs heed none
    operand += 2 * count;
    return environment.launch(kernel, grid, slots.data(), flags);
  }

  /// `operands`: register and tensor (or less than 0) of each argument.
  uint32_t flagsOf(const Kernel &kernel, std::span<const int64_t> operands) {
    std::pmr::vector<Span> spans(operands.size() / 2, &memory);
    for (size_t i = 0; i < spans.size(); ++i)
      if (operands[2 * i + 1] >= 0)
        spans[i] = byteSpan(tensors[operands[2 * i + 1]]);
    return launchFlags(kernel.info(), spans);
  }
};
} // namespace

/// Bytes that are taken for one another.
static bool areAlike(DType a, DType b) {
  auto isByte = [](DType type) { return type == DType::Bool || type == DType::I8 || type == DType::U8; };
  return a == b || (isByte(a) && isByte(b));
}

void HostProgram::checkArguments(std::span<const HostArgument> args) const {
  if (args.size() != parameters.size())
    refuse(name + " takes " + counted(parameters.size(), "argument") + ", got " + std::to_string(args.size()),
           Diagnostic::Kind::Type);
  for (size_t i = 0; i < args.size(); ++i) {
    const HostParameter &parameter = parameters[i];
    if (parameter.rank < 0)
      continue;
    if (!args[i].tensor)
      refuse("argument '" + parameter.name + "' of " + name + " is a number; expected a tensor", Diagnostic::Kind::Type);
    const Tensor &tensor = *args[i].tensor;
    if (tensor.rank > 0 && (!tensor.extents || !tensor.strides))
      refuse("argument '" + parameter.name + "' of " + name + " is a tensor without " + (tensor.extents ? "strides" : "extents"));
    auto found = [&] {
      return "argument '" + parameter.name + "' of " + name + " is " + withArticle(dtypeName(tensor.dtype)) +
             " tensor of shape " + shapeText(tensor);
    };
    if (!areAlike(tensor.dtype, parameter.dtype))
      refuse(found() + "; expected " + dtypeName(parameter.dtype), Diagnostic::Kind::Type);
    if (tensor.rank != parameter.rank)
      refuse(found() + "; expected " + std::to_string(parameter.rank) + (parameter.rank == 1 ? " dimension" : " dimensions"));
    if (args[i].readOnly && parameter.written)
      refuseReadOnly(parameter.name, name);
  }
}

std::optional<std::vector<uint32_t>> HostProgram::run(std::span<const HostArgument> args, std::span<const KernelPtr> kernels,
                                                      HostEnvironment &environment) const {
  checkArguments(args);
  Frame frame(*this, args, kernels, environment);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].rank >= 0)
      frame.tensors[i] = *args[i].tensor;
  auto &r = frame.registers;
  for (const int64_t *at = code.data();;) {
    HostOp op = HostOp(*at++);
    switch (op) {
    case HostOp::Constant:
      r[at[0]] = at[1], at += 2;
      break;
    case HostOp::Scalar:
      r[at[0]] = int64_t(args[at[1]].bits), at += 2;
      break;
    case HostOp::Extent:
      r[at[0]] = frame.tensors[at[1]].extents[at[2]], at += 3;
      break;
    case HostOp::Stride:
      r[at[0]] = frame.tensors[at[1]].strides[at[2]], at += 3;
      break;
    case HostOp::Pointer:
      r[at[0]] = reinterpret_cast<int64_t>(frame.tensors[at[1]].data), at += 2;
      break;
    case HostOp::Select:
      r[at[0]] = r[at[1]] ? r[at[2]] : r[at[3]], at += 4;
      break;
    case HostOp::SignExtend:
    case HostOp::ZeroExtend:
      r[at[0]] = extend(r[at[1]], at[2], op == HostOp::SignExtend), at += 3;
      break;
    case HostOp::Check:
      if (r[at[0]] != r[at[1]])
        refuse(filled(texts[at[2]], r[at[0]], r[at[1]]), at[3] ? Diagnostic::Kind::Runtime : Diagnostic::Kind::Value);
      at += 4;
      break;
    case HostOp::Empty:
      if (!frame.empty(at))
        return {};
      at += 4 + at[3];
      break;
    case HostOp::Launch:
      if (!frame.launch(at))
        return {};
      break;
    case HostOp::Return:
      return std::vector<uint32_t>(at + 1, at + 1 + at[0]);
    default:
      r[at[0]] = binary(op, r[at[1]], r[at[2]]), at += 3;
      break;
    }
  }
}
} // namespace tilery
