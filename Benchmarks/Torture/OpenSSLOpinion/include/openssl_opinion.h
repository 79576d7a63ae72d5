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

/// What OpenSSL makes of the signature of a transaction receipt and of the certificate that came with it: that of
/// `openssl verify -partial_chain -purpose any -attime`, and of `openssl dgst -verify` with its key.
///
/// @param message What was signed: the version's byte and the purchase info.
/// @param is_sha256 Whether the digest is SHA-256; otherwise it is SHA-1.
/// @param leaf The certificate in DER. What follows it is not looked at.
/// @param issuers The trusted issuers in DER.
/// @param moment Seconds since 1970: when the certificates must be valid.
/// @param[out] reason OpenSSL's own words where it refuses; at most `capacity` bytes with the closing zero.
/// @return 1 if it accepts, 0 if it refuses, -1 if no opinion could be had.
int openssl_leaf_opinion(
    opinion_bytes message, int is_sha256, opinion_bytes signature, opinion_bytes leaf, const opinion_bytes *issuers,
    size_t issuer_count, int64_t moment, char *reason, size_t capacity);

/// The version of the library that is linked.
const char *openssl_opinion_library(void);

#endif
