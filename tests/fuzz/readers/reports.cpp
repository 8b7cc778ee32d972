// What a GPU's kernel printed: memory that anything on the device may have written to.
#include "runtime/cuda/reports.h"
#include "tests/fuzz/readers/images.h"
#include "tests/fuzz/readers/reader.h"
#include <cstdio>
#include <cstring>

using namespace tilery;

std::vector<std::string> readers::seeds() {
  TileryReports head{0, UINT64_MAX};
  TileryReport record{5, 1, sizeof record + 24 + 8};
  std::string bytes(sizeof head + record.bytes, 'x');
  head.used = record.bytes;
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &record, sizeof record);
  std::string failed = bytes;
  head.failure = 3 << 16;
  std::memcpy(failed.data(), &head, sizeof head);
  return {bytes, failed};
}

void readers::read(std::string_view bytes) {
  static const bool quiet [[maybe_unused]] = std::freopen("/dev/null", "w", stdout) != nullptr;
  TileryReports head;
  if (bytes.size() < sizeof head)
    return;
  std::memcpy(&head, bytes.data(), sizeof head);
  const uint32_t grid[3] = {3, 2, 1};
  cuda::deliverReports(gpuKernel(), head, bytes.substr(sizeof head), grid);
}
