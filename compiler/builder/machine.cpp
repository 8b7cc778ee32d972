// What a program asks of the machine that runs it.
#include "compiler/builder/impl.h"
#include "compiler/ir/machine_ops.h"

namespace tilery {

Value Builder::clock() { return impl->wrap(impl->create<tile::ClockOp>(), DType::I64); }
Value Builder::processor() { return impl->wrap(impl->create<tile::ProcessorOp>(), DType::I32); }

} // namespace tilery
