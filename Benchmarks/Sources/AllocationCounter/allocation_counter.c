// Counts allocations by standing in for the allocator's functions in the program that links this file. The calls are
// handed on to glibc. Nothing is preloaded, and while nothing is counted each call costs one more test.
#include "allocation_counter.h"

#if defined(__linux__) && defined(__GLIBC__)

#include <errno.h>
#include <malloc.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static _Thread_local bool is_counting;
static _Thread_local allocation_count counted;
static _Thread_local int64_t in_use;

static void *note(void *block, size_t size) {
    if (__builtin_expect(is_counting, 0) && block) {
        counted.calls += 1;
        counted.bytes += (int64_t)size;
        in_use += (int64_t)malloc_usable_size(block);
        if (in_use > counted.peak) counted.peak = in_use;
    }
    return block;
}

void *malloc(size_t size) { return note(__libc_malloc(size), size); }

void *calloc(size_t count, size_t size) { return note(__libc_calloc(count, size), count * size); }

void *realloc(void *block, size_t size) {
    int64_t before = __builtin_expect(is_counting, 0) && block ? (int64_t)malloc_usable_size(block) : 0;
    void *moved = __libc_realloc(block, size);
    if (moved || size == 0) in_use -= before;
    return note(moved, size);
}

void *memalign(size_t alignment, size_t size) { return note(__libc_memalign(alignment, size), size); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    void *made = memalign(alignment, size);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block) {
    if (__builtin_expect(is_counting, 0) && block) in_use -= (int64_t)malloc_usable_size(block);
    __libc_free(block);
}

bool allocation_counter_works(void) { return true; }

void allocation_counter_start(void) {
    counted = (allocation_count){0};
    in_use = 0;
    is_counting = true;
}

allocation_count allocation_counter_stop(void) {
    is_counting = false;
    return counted;
}

#else

bool allocation_counter_works(void) { return false; }
void allocation_counter_start(void) {}
allocation_count allocation_counter_stop(void) { return (allocation_count){0}; }

#endif
