#pragma once
/* What generated code asks of the machine beside tilery/abi.h. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds of a clock that never goes back. */
int64_t tilery_rt_clock(void);

/* The number of the thread: 0 for those that launch, 1, 2, ... for those of the pool. */
int32_t tilery_rt_thread(void);

#ifdef __cplusplus
}
#endif
