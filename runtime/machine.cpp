#include "tilery/machine.h"
#include "runtime/pool.h"

int64_t tilery_rt_clock() { return tilery::nowNanoseconds(); }

int32_t tilery_rt_thread() { return int32_t(tilery::poolThread()); }
