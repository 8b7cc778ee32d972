// Loader, launcher and cache as Python sees them.
#include "binding.h"

namespace tilery::python {
void bindRuntime(nanobind::module_ &m) {}
} // namespace tilery::python
