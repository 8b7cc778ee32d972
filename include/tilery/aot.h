/* Programs that were compiled ahead of time, from C: a program that links libtilery_rt calls them with no compiler and no toolkit.
   The functions that `tilery.aot` writes beside a bundle are made of these. */
#ifndef TILERY_AOT_H
#define TILERY_AOT_H
#include <stdint.h>

#pragma GCC visibility push(default) /* what libtilery.so exports */
#ifdef __cplusplus
extern "C" {
#endif

/* A bundle in memory: entries, each with code for one or several kinds of call. */
typedef struct TileryBundle TileryBundle;

/* A tensor (its elements, extents and strides in elements, as many as the entry says: those of TileLang and NineToothed need all three); or a
   pointer, for a kernel that takes a grid (Tileon's, Triton's), or a number, which `data` points to in the host's memory: `shape` and `strides`
   are null. Other nulls are refused, but for the data of a tensor without elements. */
typedef struct TileryArgument {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
} TileryArgument;

enum {
  TILERY_OK = 0,
  TILERY_NO_VARIANT = 1, /* the bundle has no code for this kind of call or machine */
  TILERY_ERROR = 2       /* see tilery_aot_error */
};
enum {
  TILERY_CPU = -1,
  TILERY_CURRENT_GPU = -2 /* that of the thread's CUDA context, the first one if it has none */
};

/* Where `*bundle` is null: reads the bundle, which must stay in memory. Then calls entry number `entry`. `grid`: three extents for an entry that
   takes a grid, else null. device: a GPU's number, or one of the above; stream: a CUDA stream (null: the default one). On a GPU the call returns
   before the work is done. Several threads may call at once. */
int tilery_aot_call(TileryBundle **bundle, const void *bytes, uint64_t size, uint32_t entry, const TileryArgument *arguments,
                    uint32_t count, const int64_t *grid, int device, void *stream);
/* Frees the bundle and the code that its calls have loaded, and makes `*bundle` null: the next call reads it again. No call of this bundle may
   run meanwhile; what its calls gave to a GPU must be done. Nothing happens where `bundle` or `*bundle` is null. */
void tilery_aot_close(TileryBundle **bundle);
/* What the last call of this thread that failed says. */
const char *tilery_aot_error(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
#endif
