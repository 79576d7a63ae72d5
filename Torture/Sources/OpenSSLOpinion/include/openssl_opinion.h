#ifndef OPENSSL_OPINION_H
#define OPENSSL_OPINION_H

#include <stddef.h>
#include <stdint.h>

/// Bytes with their count.
typedef struct {
    const uint8_t *bytes;
    size_t count;
} opinion_bytes;

/// What OpenSSL makes of a receipt: that of `openssl cms -verify -inform DER -purpose any -attime`.
///
/// @param message The CMS message, in DER or BER.
/// @param anchors The trusted certificates in DER, and nothing else is trusted.
/// @param moment Seconds since 1970: when the certificates must be valid.
/// @param[out] reason OpenSSL's own words where it refuses; at most `capacity` bytes with the closing zero.
/// @return 1 if it accepts, 0 if it refuses, -1 if no opinion could be had.
int openssl_opinion(
    opinion_bytes message, const opinion_bytes *anchors, size_t anchor_count, int64_t moment, char *reason,
    size_t capacity);

/// The version of the library that is linked.
const char *openssl_opinion_library(void);

#endif
