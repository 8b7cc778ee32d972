#include "compiler/targets/cuda/ptx/mma_form.h"

namespace tilery::cuda {

unsigned MmaForm::elementBytes() const {
  switch (kind) {
  case F16:
  case BF16:
    return 2;
  case F64:
  case FusedI64:
    return 8;
  case I8:
    return 1;
  default:
    return 4;
  }
}
unsigned MmaForm::depth() const { return (fused() ? 16 : 32) / elementBytes(); }
const char *MmaForm::name() const {
  static const char *names[] = {"f16", "bf16", "tf32", "f64", "i8", "fused f32", "fused i32", "fused i64"};
  return names[kind];
}

} // namespace tilery::cuda
