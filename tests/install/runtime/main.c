#include "scaled.h"
#include <stdio.h>

enum { ROWS = 70, COLUMNS = 90 };

int main(void) {
  static float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    x[i] = (float)i;
  uint64_t shape[] = {ROWS, COLUMNS};
  int64_t strides[] = {COLUMNS, 1};
  double scale = 2;
  NineToothedTensor tx = {x, shape, strides}, ts = {&scale, 0, 0}, ty = {y, shape, strides};
  if (launch_scaled(0, tx, ts, ty)) {
    fprintf(stderr, "%s\n", tilery_aot_error());
    return 1;
  }
  int wrong = 0;
  for (int i = 0; i < ROWS * COLUMNS; ++i)
    wrong += y[i] != 2 * x[i] + 1;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
