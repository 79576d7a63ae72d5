#ifndef LIB_FUZZER_H
#define LIB_FUZZER_H

#include <stddef.h>
#include <stdint.h>

// The interface of libFuzzer (FuzzerInterface.h) as far as it is used. dev/fuzz.sh links the library from the
// toolchain.

/// Runs the fuzzer with these arguments; does not return before the budget is used up or an input has crashed.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *bytes, size_t count));

/// Changes the bytes in place, with libFuzzer's own mutations; returns the new count.
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t capacity);

#endif
