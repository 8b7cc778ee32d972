#include "compiler/targets/cuda/ptx/target.h"
#include <algorithm>
#include <charconv>

namespace tilery::cuda {

std::string CudaTarget::key() const {
  return arch() + ";ptx" + std::to_string(ptx) + ";" + std::to_string(multiprocessors) + ";" + std::to_string(sharedBytes) +
         (writesMaps() ? "" : ";no maps");
}

std::optional<CudaTarget> targetNamed(std::string_view name) {
  if (!name.starts_with("sm_"))
    return std::nullopt;
  name.remove_prefix(3);
  CudaTarget target;
  if (size_t colon = name.find(":cuda"); colon != std::string_view::npos) {
    std::string_view version = name.substr(colon + 5);
    int number = 0;
    std::from_chars(version.data(), version.data() + version.size(), number);
    target.driver = number;
    target.ptx = ptxVersion(number);
    name = name.substr(0, colon);
  }
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), target.sm);
  std::string_view suffix(end, name.data() + name.size() - end);
  if (error != std::errc() || target.sm < 80 || (suffix != "" && suffix != "a"))
    return std::nullopt;
  target.specific = suffix == "a";
  if (target.specific && target.sm < 90)
    return std::nullopt;
  // LLVM ends the process where a GPU asks for a newer PTX than a target has: no kind is guessed. Newer ones run code of older ones.
  constexpr unsigned known[] = {80, 86, 87, 89, 90};
  if (std::find(std::begin(known), std::end(known), target.sm) == std::end(known))
    return std::nullopt;
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
  } table[] = {{13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84},
               {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}};
  for (auto [driver, ptx] : table)
    if (driverVersion >= driver)
      return std::min(ptx, 87u);
  return 75;
}

} // namespace tilery::cuda
