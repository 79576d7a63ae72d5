// Counts what a thread takes from the heap while it writes a transaction of SQLite: from BEGIN IMMEDIATE to COMMIT. Preloaded into a
// server (LD_PRELOAD); when the server ends, it appends transactions, calls and bytes to the file that ASSAY_ALLOCATIONS names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static _Thread_local int is_writing __attribute__((tls_model("initial-exec")));
static atomic_llong transactions, calls, bytes;

static void count(size_t size) {
    if (is_writing) calls++, bytes += size;
}

void *malloc(size_t size) { count(size); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { count(number * size); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { count(size); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { count(size); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **place, size_t alignment, size_t size) { return (*place = memalign(alignment, size)) ? 0 : ENOMEM; }

int sqlite3_step(void *statement) {
    static int (*step)(void *);
    static const char *(*sql)(void *);
    if (!step) sql = dlsym(RTLD_NEXT, "sqlite3_sql"), step = dlsym(RTLD_NEXT, "sqlite3_step");
    const char *text = sql(statement);
    if (text && !strncmp(text, "BEGIN IMMEDIATE", 15)) is_writing = 1;
    int result = step(statement);
    if (text && is_writing && (!strncmp(text, "COMMIT", 6) || !strncmp(text, "ROLLBACK", 8))) is_writing = 0, transactions++;
    return result;
}

__attribute__((destructor)) static void end(void) {
    const char *name = getenv("ASSAY_ALLOCATIONS");
    FILE *file = name ? fopen(name, "a") : NULL;
    if (file) fprintf(file, "%lld %lld %lld\n", (long long)transactions, (long long)calls, (long long)bytes), fclose(file);
}
