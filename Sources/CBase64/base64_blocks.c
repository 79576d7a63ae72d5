#include "base64_blocks.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

// The operating system must save the wide registers, too (Intel, "Software Developer's Manual", volume 1, 14.3).
__attribute__((target("xsave")))
bool base64_blocks_works(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & bit_OSXSAVE) == 0 || (ecx & bit_AVX) == 0) return false;
    const unsigned long long saved = 0x6;
    if ((_xgetbv(0) & saved) != saved) return false;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_AVX2) != 0;
}

#define TWICE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)

// Two look-ups by the halves of a character say what is wrong with it: a bit that both have. A third one says what to add to
// it: by the upper half, with `/` counted one below its neighbours (W. Muła, "Base64 decoding with SIMD instructions").
__attribute__((target("avx2")))
ptrdiff_t base64_blocks(const uint8_t *text, size_t count, uint8_t *bytes, size_t capacity) {
    const __m256i wrong_by_lower_half = TWICE(
        0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1A, 0x1B, 0x1B, 0x1B, 0x1A);
    const __m256i wrong_by_upper_half = TWICE(
        0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10);
    const __m256i added = TWICE(0, 16, 19, 4, -65, -65, -71, -71, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i order = TWICE(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
    const __m256i together = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i half = _mm256_set1_epi8(0x0F);
    const __m256i slash = _mm256_set1_epi8('/');

    __m256i wrong = _mm256_setzero_si256();
    size_t position = 0;
    size_t written = 0;
    while (count - position >= 44 && capacity - written >= 32) {
        const __m256i block = _mm256_loadu_si256((const __m256i *)(text + position));
        const __m256i lower = _mm256_and_si256(block, half);
        const __m256i upper = _mm256_and_si256(_mm256_srli_epi32(block, 4), half);
        wrong = _mm256_or_si256(
            wrong, _mm256_and_si256(
                _mm256_shuffle_epi8(wrong_by_lower_half, lower), _mm256_shuffle_epi8(wrong_by_upper_half, upper)));
        const __m256i sixes = _mm256_add_epi8(
            block, _mm256_shuffle_epi8(added, _mm256_add_epi8(upper, _mm256_cmpeq_epi8(block, slash))));
        // Pairs of 6 bits to 12, and pairs of these to 24.
        const __m256i twelves = _mm256_maddubs_epi16(sixes, _mm256_set1_epi32(0x01400140));
        const __m256i words = _mm256_madd_epi16(twelves, _mm256_set1_epi32(0x00011000));
        const __m256i decoded = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(words, order), together);
        _mm256_storeu_si256((__m256i *)(bytes + written), decoded);
        position += 32;
        written += 24;
    }
    return _mm256_testz_si256(wrong, wrong) ? (ptrdiff_t)position : -1;
}

#else

bool base64_blocks_works(void) { return false; }

ptrdiff_t base64_blocks(const uint8_t *text, size_t count, uint8_t *bytes, size_t capacity) {
    (void)text, (void)count, (void)bytes, (void)capacity;
    return 0;
}

#endif
