#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// What one thread took from the heap between two points.
typedef struct {
    /// Calls of malloc, calloc, realloc, posix_memalign, aligned_alloc and memalign.
    int64_t calls;
    /// The sum of the sizes that were asked for.
    int64_t bytes;
    /// The most bytes in use at the same time, beyond those in use at the start; as the allocator rounds them up.
    int64_t peak;
} allocation_count;

/// Whether allocations can be counted here: with glibc.
bool allocation_counter_works(void);

/// Begins to count the allocations of this thread.
void allocation_counter_start(void);

/// Ends counting.
allocation_count allocation_counter_stop(void);

#endif
