#include "runtime/cuda/reports.h"
#include "runtime/callbacks.h"
#include "runtime/print.h"
#include "tilery/spelling.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace tilery::cuda {
namespace {

/// Bytes of a record that the value takes.
size_t bytesOf(const ReportSite::Value &value) {
  size_t bytes = value.dtype == TILERY_POINTER ? 8 : byteWidth(DType(value.dtype));
  for (int64_t extent : value.shape)
    bytes *= size_t(extent);
  return (bytes + 7) / 8 * 8;
}

/// The site of a record of so many bytes of values. Throws Error where no code of the kernel's can have written that.
const ReportSite &siteOf(const KernelInfo &info, uint64_t number, size_t bytes) {
  size_t needed = 0;
  if (number < info.gpu.sites.size())
    for (const ReportSite::Value &value : info.gpu.sites[number].values)
      needed += bytesOf(value);
  if (number >= info.gpu.sites.size() || needed > bytes)
    throw Error(
        {Diagnostic::Kind::Runtime,
         "what " + info.name + " printed was written over: it, or a kernel beside it, stores where no tensor of its own is",
         spelling().checked,
         {}});
  return info.gpu.sites[number];
}

void print(const ReportSite &site, const TileryLaunch &launch, const TileryReport &head, const char *values) {
  std::vector<TileryPrinted> printed;
  size_t at = 0;
  for (const ReportSite::Value &value : site.values) {
    printed.push_back({values + at, value.shape.data(), uint32_t(value.shape.size()), value.dtype});
    at += bytesOf(value);
  }
  writePrinted(printedLines(launch, int64_t(head.program), site.text, site.hex, printed));
}

} // namespace

void clearReports(Address reports, Stream stream) {
  const Driver &driver = Driver::get();
  std::string what = "preparing a launch that prints";
  check(driver.cuMemsetD8Async(reports, 0, TILERY_REPORT_BYTES, stream), what);
  check(driver.cuMemsetD8Async(reports + offsetof(TileryReports, failure), 0xff, 8, stream), what);
}

void deliverReports(const KernelInfo &info, const TileryReports &head, std::string_view bytes, const uint32_t grid[3]) {
  TileryLaunch launch{};
  std::copy(grid, grid + 3, launch.grid);
  std::vector<std::pair<TileryReport, const char *>> records;
  size_t at = 0;
  for (TileryReport record; at + sizeof record <= bytes.size(); at += record.bytes) {
    std::memcpy(&record, bytes.data() + at, sizeof record);
    if (record.bytes < sizeof record || at + record.bytes > bytes.size())
      break; // the first that did not fit
    records.emplace_back(record, bytes.data() + at + sizeof record);
  }
  // A program's records are in its own order; programs come in any.
  std::sort(records.begin(), records.end(),
            [](auto &a, auto &b) { return std::pair(a.first.program, a.second) < std::pair(b.first.program, b.second); });
  for (auto &[record, values] : records)
    print(siteOf(info, record.site, record.bytes - sizeof record), launch, record, values);
  if (at < head.used)
    std::fprintf(stderr, "tilery: %llu bytes that %s printed did not fit into the %u that a launch may print\n",
                 static_cast<unsigned long long>(head.used - at), info.name.c_str(), TILERY_REPORT_BYTES);
  if (head.failure != UINT64_MAX) {
    const ReportSite &site = siteOf(info, head.failure & 0xffff, SIZE_MAX);
    throw Error(
        assertionFailure(grid, int64_t(head.failure >> 16), site.text, {site.file, int(site.line), int(site.column), info.name}));
  }
}

void readReports(const KernelInfo &info, Address reports, const uint32_t grid[3], Stream stream) {
  const Driver &driver = Driver::get();
  TileryReports head{0, UINT64_MAX};
  std::string what = "running " + info.name;
  check(driver.cuMemcpyDtoHAsync_v2(&head, reports, sizeof head, stream), what);
  check(driver.cuStreamSynchronize(stream), what);
  std::string bytes(std::min<uint64_t>(head.used, TILERY_REPORT_BYTES - sizeof head), '\0');
  if (!bytes.empty()) {
    check(driver.cuMemcpyDtoHAsync_v2(bytes.data(), reports + sizeof head, bytes.size(), stream), what);
    check(driver.cuStreamSynchronize(stream), what);
  }
  deliverReports(info, head, bytes, grid);
}

} // namespace tilery::cuda
