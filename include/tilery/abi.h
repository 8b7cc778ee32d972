/* The contract between generated code and the runtime. C, because generated code calls it. */
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* One launch, shared read-only by all threads that run its programs. */
typedef struct TileryLaunch {
  const uint64_t *args; /* one 8-byte slot an argument: pointers; integers extended by their type; floats as their bits in the low bytes */
  uint32_t grid[3];     /* extents, each >= 1 */
  uint32_t flags;       /* TILERY_DISJOINT */
  void *panels;         /* panel table of this launch, made on first use; see tilery_rt_panel */
} TileryLaunch;

/* No written argument overlaps any other argument: loads may move across stores, packed panels may be shared between programs. */
#define TILERY_DISJOINT 1u

/* Runs the programs with linear id in [begin, end); x = id % grid[0] runs fastest. scratch: 64-byte aligned, owned by the calling thread. */
typedef void (*TileryKernel)(const TileryLaunch *launch, int64_t begin, int64_t end, void *scratch);

#ifdef __cplusplus
}
#endif
