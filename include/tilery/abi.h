/* The contract between generated code and the runtime. C, because generated code calls it. */
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* One launch, shared read-only by all threads that run its programs. */
typedef struct TileryLaunch {
  const uint64_t
      *args; /* one 8-byte slot an argument: pointers; integers extended by their type; floats as their bits in the low bytes */
  uint32_t grid[3]; /* extents, each >= 1 */
  uint32_t flags;   /* TILERY_DISJOINT | TILERY_STREAM | TILERY_ALONE */
  void *panels;     /* panel table of this launch, made on first use; see tilery_rt_panel */
  void *job;        /* the runtime's own */
  uint32_t poll;    /* not 0: loops whose end nothing bounds ask tilery_rt_poll */
} TileryLaunch;

/* No written argument overlaps any other argument: loads may move across stores, packed panels may be shared between programs. */
#define TILERY_DISJOINT 1u
/* The written arguments are larger than the last-level cache: stores that are not read again may bypass it. */
#define TILERY_STREAM 2u
/* Nobody else updates memory while these programs run, one after the other: updates need not be indivisible. The runtime sets it. */
#define TILERY_ALONE 4u

/* Runs the programs with linear id in [begin, end); x = id % grid[0] runs fastest. scratch: 64-byte aligned, owned by the calling
 * thread. */
typedef void (*TileryKernel)(const TileryLaunch *launch, int64_t begin, int64_t end, void *scratch);

/* Element types of printed values: the codes of tilery::DType (dtype.h), or TILERY_POINTER for addresses. */
#define TILERY_POINTER 255u
typedef struct TileryPrinted {
  const void *data;     /* row-major elements; booleans one byte each */
  const int64_t *shape; /* `rank` extents */
  uint32_t rank;
  uint32_t dtype;
} TileryPrinted;

/* Prints `count` values of program `pid` as whole tiles, "(x, y, z) prefix [1, 2]", one call's lines together. */
void tilery_rt_print(const TileryLaunch *launch, int64_t pid, const char *prefix, uint32_t hex, uint32_t count,
                     const TileryPrinted *values);

/* A failed assertion of program `pid`: the first one of a launch is kept and raised to the caller when the launch ends, no new
   programs start. `file` may be null. Returns: the calling code must leave the kernel function at once. */
void tilery_rt_assert(const TileryLaunch *launch, int64_t pid, const char *message, const char *file, uint32_t line,
                      uint32_t column);

/* Asked at the back edge of a loop whose end nothing bounds, where the launch's `poll` is not 0; true: the calling code must leave the
   kernel function at once. May run code of the program's (a signal's handler). */
uint32_t tilery_rt_poll(const TileryLaunch *launch);

/* The first `keep` of `count` elements of an element type's code in increasing (else decreasing) order come to the front of `values`; see
   runtime/sort.h. `scratch` has room for `count` elements. */
void tilery_rt_sort(void *values, void *scratch, int64_t count, int64_t keep, uint32_t dtype, uint32_t descending);

/* What a GPU kernel tells the host: memory of TILERY_REPORT_BYTES bytes that begins with this and goes on with the records of prints. */
#define TILERY_REPORT_BYTES (8u << 20)
typedef struct TileryReports {
  uint64_t used;    /* bytes that records wanted; those that did not fit are not there */
  uint64_t failure; /* the least of program << 16 | site (KernelInfo::gpu.sites) of failed assertions; all ones: none */
} TileryReports;
/* A record: this, then each printed value, padded to 8 bytes. */
typedef struct TileryReport {
  uint64_t program;
  uint32_t site;
  uint32_t bytes; /* with this head */
} TileryReport;

/* Packed operands of dots, shared by the programs of one launch. The first field is the panel's memory (64-byte aligned). */
typedef struct TileryPanel TileryPanel;

/* The panel of this launch with the given key (`words` integers), made with room for `bytes` if it is missing. It consists of
   `pieces` parts, packed once each by whichever thread comes first: for (p = tilery_rt_panel_piece(panel, -1); p >= 0; p =
   tilery_rt_panel_piece(panel, p)) pack(p); when that loop ends the panel is complete. It stays until it is released. */
TileryPanel *tilery_rt_panel(const TileryLaunch *launch, const int64_t *key, int64_t words, int64_t bytes, int64_t pieces);
/* Reports the piece that was packed (-1: none) and returns the next one to pack; -1 once all are packed (waits for other
 * threads). */
int64_t tilery_rt_panel_piece(TileryPanel *panel, int64_t finished);
void tilery_rt_panel_release(const TileryLaunch *launch, TileryPanel *panel);

#ifdef __cplusplus
}
#endif
