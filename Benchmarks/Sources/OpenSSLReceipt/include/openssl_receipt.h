#ifndef OPENSSL_RECEIPT_H
#define OPENSSL_RECEIPT_H

#include <stddef.h>
#include <stdint.h>

/// One purchase, every known attribute copied out. A text that is absent is NULL; dates stay texts.
typedef struct {
    int64_t quantity;
    int64_t product_type;
    int64_t product_adam_id;
    int64_t web_order_line_item_id;
    int64_t is_trial_period;
    int64_t is_in_intro_offer_period;
    int64_t ownership_type;
    char *product_id;
    char *transaction_id;
    char *original_transaction_id;
    char *promotional_offer_id;
    char *purchase_date;
    char *original_purchase_date;
    char *expires_date;
    char *cancellation_date;
} openssl_purchase;

/// A receipt, every known attribute copied out.
typedef struct {
    int64_t adam_id;
    int64_t download_id;
    int64_t version_external_identifier;
    char *receipt_type;
    char *bundle_id;
    char *application_version;
    char *original_application_version;
    char *creation_date;
    char *original_purchase_date;
    char *expiration_date;
    unsigned char *opaque_value;
    size_t opaque_value_length;
    unsigned char *device_hash;
    size_t device_hash_length;
    openssl_purchase *purchases;
    size_t purchase_count;
    size_t purchase_capacity;
} openssl_receipt;

/// Verifies a receipt and reads it, as servers commonly do with libcrypto: everything anew for each receipt, the root, the
/// store and the certificates.
///
/// @param base64 The receipt in base64, in one line.
/// @param root The trusted root in DER.
/// @param[out] failure In words what failed; a constant.
/// @return The receipt, to be given to openssl_receipt_free; NULL if it is not genuine.
openssl_receipt *openssl_receipt_verify(
    const unsigned char *base64, size_t length, const unsigned char *root, size_t root_length, const char **failure);

void openssl_receipt_free(openssl_receipt *receipt);

/// The version of the library that is linked.
const char *openssl_receipt_library(void);

#endif
