#include "compiler/targets/cuda/ptx/target.h"
#include <charconv>

namespace tilery::cuda {

std::string CudaTarget::key() const {
  return arch() + ";ptx" + std::to_string(ptx) + ";" + std::to_string(multiprocessors) + ";" + std::to_string(sharedBytes) +
         (writesMaps() ? "" : ";no maps");
}

llvm::ArrayRef<llvm::StringLiteral> targetNames() {
  static constexpr llvm::StringLiteral names[] = {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a"};
  return names;
}

std::optional<CudaTarget> targetNamed(std::string_view name) {
  CudaTarget target;
  if (size_t colon = name.find(":cuda"); colon != std::string_view::npos) {
    std::string_view version = name.substr(colon + 5);
    int number = 0;
    std::from_chars(version.data(), version.data() + version.size(), number);
    target.driver = number;
    target.ptx = ptxVersion(number);
    name = name.substr(0, colon);
  }
  if (!llvm::is_contained(targetNames(), llvm::StringRef(name)))
    return std::nullopt;
  std::from_chars(name.data() + 3, name.data() + name.size(), target.sm);
  target.specific = name.ends_with("a");
  switch (target.sm) {
  case 80:
    target.multiprocessors = 108, target.sharedBytes = 163 * 1024;
    break;
  case 86:
  case 89:
    target.multiprocessors = 84, target.sharedBytes = 99 * 1024;
    break;
  }
  return target;
}

unsigned leastPtx(const CudaTarget &target) {
  if (target.sm >= 90)
    return target.specific ? 80 : 78;
  return target.sm >= 89 ? 78 : 75;
}

unsigned ptxVersion(int driverVersion) {
  struct {
    int driver;
    unsigned ptx;
  } table[] = {{12080, 87}, {12070, 86}, {12050, 85}, {12040, 84}, {12030, 83},
               {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}}; // newer ones bring no instruction that is used
  for (auto [driver, ptx] : table)
    if (driverVersion >= driver)
      return ptx;
  return 75;
}

} // namespace tilery::cuda
