#include "openssl_receipt.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

// Reading ASN.1: a walk over elements between two pointers.

typedef struct {
    const unsigned char *position;
    const unsigned char *end;
} walk;

typedef struct {
    int tag;
    int class;
    const unsigned char *content;
    long length;
} element;

static int next(walk *walk, element *element) {
    const unsigned char *position = walk->position;
    if (position >= walk->end) return 0;
    int form = ASN1_get_object(&position, &element->length, &element->tag, &element->class, walk->end - position);
    // 0x80: not an element; 1: indefinite length, which receipts of the App Store do not use.
    if (form & 0x81) return 0;
    element->content = position;
    walk->position = position + element->length;
    return 1;
}

static int next_of(walk *walk, int tag, element *element) {
    return next(walk, element) && element->class == V_ASN1_UNIVERSAL && element->tag == tag;
}

static walk inside(const element *element) {
    return (walk){element->content, element->content + element->length};
}

static int64_t integer(const element *element) {
    int64_t value = element->length > 0 && element->content[0] & 0x80 ? -1 : 0;
    for (long index = 0; index < element->length; index += 1) value = (int64_t)((uint64_t)value << 8) | element->content[index];
    return value;
}

/// ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
static int next_attribute(walk *set, int64_t *type, element *value) {
    element sequence, number;
    if (!next_of(set, V_ASN1_SEQUENCE, &sequence)) return 0;
    walk fields = inside(&sequence);
    if (!next_of(&fields, V_ASN1_INTEGER, &number)) return 0;
    *type = integer(&number);
    if (!next_of(&fields, V_ASN1_INTEGER, &number)) return 0;
    return next_of(&fields, V_ASN1_OCTET_STRING, value);
}

static int open_set(const unsigned char *bytes, long length, walk *set) {
    walk outer = {bytes, bytes + length};
    element element;
    if (!next_of(&outer, V_ASN1_SET, &element)) return 0;
    *set = inside(&element);
    return 1;
}

static char *copy_text(const element *value) {
    walk outer = inside(value);
    element text;
    if (!next(&outer, &text) || (text.tag != V_ASN1_UTF8STRING && text.tag != V_ASN1_IA5STRING)) return NULL;
    char *copy = malloc((size_t)text.length + 1);
    if (!copy) return NULL;
    memcpy(copy, text.content, (size_t)text.length);
    copy[text.length] = 0;
    return copy;
}

static int64_t copy_integer(const element *value) {
    walk outer = inside(value);
    element number;
    return next_of(&outer, V_ASN1_INTEGER, &number) ? integer(&number) : 0;
}

static unsigned char *copy_bytes(const element *value, size_t *length) {
    unsigned char *copy = malloc((size_t)value->length + 1);
    if (!copy) return NULL;
    memcpy(copy, value->content, (size_t)value->length);
    *length = (size_t)value->length;
    return copy;
}

static void set_text(char **text, const element *value) {
    free(*text);
    *text = copy_text(value);
}

static int read_purchase(const element *value, openssl_purchase *purchase) {
    walk set;
    if (!open_set(value->content, value->length, &set)) return 0;
    while (set.position < set.end) {
        int64_t type;
        element attribute;
        if (!next_attribute(&set, &type, &attribute)) return 0;
        switch (type) {
        case 1701: purchase->quantity = copy_integer(&attribute); break;
        case 1702: set_text(&purchase->product_id, &attribute); break;
        case 1703: set_text(&purchase->transaction_id, &attribute); break;
        case 1704: set_text(&purchase->purchase_date, &attribute); break;
        case 1705: set_text(&purchase->original_transaction_id, &attribute); break;
        case 1706: set_text(&purchase->original_purchase_date, &attribute); break;
        case 1707: purchase->product_type = copy_integer(&attribute); break;
        case 1708: set_text(&purchase->expires_date, &attribute); break;
        case 1710: purchase->product_adam_id = copy_integer(&attribute); break;
        case 1711: purchase->web_order_line_item_id = copy_integer(&attribute); break;
        case 1712: set_text(&purchase->cancellation_date, &attribute); break;
        case 1713: purchase->is_trial_period = copy_integer(&attribute); break;
        case 1719: purchase->is_in_intro_offer_period = copy_integer(&attribute); break;
        case 1721: set_text(&purchase->promotional_offer_id, &attribute); break;
        case 1722: purchase->ownership_type = copy_integer(&attribute); break;
        default: break;
        }
    }
    return 1;
}

static openssl_purchase *append_purchase(openssl_receipt *receipt) {
    if (receipt->purchase_count == receipt->purchase_capacity) {
        size_t capacity = receipt->purchase_capacity ? receipt->purchase_capacity * 2 : 8;
        openssl_purchase *purchases = realloc(receipt->purchases, capacity * sizeof *purchases);
        if (!purchases) return NULL;
        receipt->purchases = purchases;
        receipt->purchase_capacity = capacity;
    }
    openssl_purchase *purchase = &receipt->purchases[receipt->purchase_count++];
    memset(purchase, 0, sizeof *purchase);
    return purchase;
}

static int read_receipt(const unsigned char *bytes, long length, openssl_receipt *receipt) {
    walk set;
    if (!open_set(bytes, length, &set)) return 0;
    while (set.position < set.end) {
        int64_t type;
        element attribute;
        openssl_purchase *purchase;
        if (!next_attribute(&set, &type, &attribute)) return 0;
        switch (type) {
        case 0: set_text(&receipt->receipt_type, &attribute); break;
        case 1: receipt->adam_id = copy_integer(&attribute); break;
        case 2: set_text(&receipt->bundle_id, &attribute); break;
        case 3: set_text(&receipt->application_version, &attribute); break;
        case 4:
            free(receipt->opaque_value);
            receipt->opaque_value = copy_bytes(&attribute, &receipt->opaque_value_length);
            break;
        case 5:
            free(receipt->device_hash);
            receipt->device_hash = copy_bytes(&attribute, &receipt->device_hash_length);
            break;
        case 12: set_text(&receipt->creation_date, &attribute); break;
        case 15: receipt->download_id = copy_integer(&attribute); break;
        case 16: receipt->version_external_identifier = copy_integer(&attribute); break;
        case 17:
            purchase = append_purchase(receipt);
            if (!purchase || !read_purchase(&attribute, purchase)) return 0;
            break;
        case 18: set_text(&receipt->original_purchase_date, &attribute); break;
        case 19: set_text(&receipt->original_application_version, &attribute); break;
        case 21: set_text(&receipt->expiration_date, &attribute); break;
        default: break;
        }
    }
    return 1;
}

/// The date of attribute 12, at which the certificates are judged: most leaves have expired since.
static int creation_time(const unsigned char *bytes, long length, time_t *time) {
    walk set;
    if (!open_set(bytes, length, &set)) return 0;
    while (set.position < set.end) {
        int64_t type;
        element attribute;
        if (!next_attribute(&set, &type, &attribute)) return 0;
        if (type != 12) continue;
        char *text = copy_text(&attribute);
        if (!text) return 0;
        struct tm parts = {0};
        int count = sscanf(text, "%d-%d-%dT%d:%d:%d", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                           &parts.tm_min, &parts.tm_sec);
        free(text);
        parts.tm_year -= 1900;
        parts.tm_mon -= 1;
        *time = timegm(&parts);
        return count == 6;
    }
    return 0;
}

/// The bytes of the base64, to be given to free.
static unsigned char *decode(const unsigned char *base64, size_t length, size_t *decoded) {
    if (length == 0 || length % 4 != 0 || length > INT_MAX) return NULL;
    unsigned char *bytes = malloc(length / 4 * 3);
    if (!bytes) return NULL;
    int count = EVP_DecodeBlock(bytes, base64, (int)length);
    if (count < 0) {
        free(bytes);
        return NULL;
    }
    // EVP_DecodeBlock counts the padding as zero bytes.
    size_t padding = (base64[length - 1] == '=') + (base64[length - 2] == '=');
    *decoded = (size_t)count - padding;
    return bytes;
}

static X509_STORE *store_with(const unsigned char *root, size_t length, time_t time) {
    const unsigned char *position = root;
    X509 *certificate = d2i_X509(NULL, &position, (long)length);
    X509_STORE *store = X509_STORE_new();
    if (certificate && store && X509_STORE_add_cert(store, certificate)) {
        X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), time);
        X509_free(certificate);
        return store;
    }
    X509_free(certificate);
    X509_STORE_free(store);
    return NULL;
}

openssl_receipt *openssl_receipt_verify(
    const unsigned char *base64, size_t length, const unsigned char *root, size_t root_length, const char **failure) {
    openssl_receipt *receipt = NULL;
    BIO *input = NULL, *content = NULL;
    PKCS7 *message = NULL;
    X509_STORE *store = NULL;
    size_t decoded = 0;
    unsigned char *bytes = decode(base64, length, &decoded);

    *failure = "base64";
    if (!bytes) goto done;
    *failure = "the container";
    input = BIO_new_mem_buf(bytes, (int)decoded);
    if (!input) goto done;
    message = d2i_PKCS7_bio(input, NULL);
    if (!message || !PKCS7_type_is_signed(message) || !PKCS7_type_is_data(message->d.sign->contents)) goto done;
    ASN1_OCTET_STRING *payload = message->d.sign->contents->d.data;
    if (!payload) goto done;

    *failure = "the creation date";
    time_t time;
    if (!creation_time(ASN1_STRING_get0_data(payload), ASN1_STRING_length(payload), &time)) goto done;

    *failure = "the root";
    store = store_with(root, root_length, time);
    if (!store) goto done;

    *failure = "the signature";
    content = BIO_new(BIO_s_mem());
    if (!content || PKCS7_verify(message, NULL, store, NULL, content, 0) != 1) goto done;

    *failure = "the content";
    char *verified = NULL;
    long verified_length = BIO_get_mem_data(content, &verified);
    receipt = calloc(1, sizeof *receipt);
    if (!receipt) goto done;
    if (!read_receipt((const unsigned char *)verified, verified_length, receipt)) {
        openssl_receipt_free(receipt);
        receipt = NULL;
        goto done;
    }
    *failure = NULL;

done:
    BIO_free(content);
    X509_STORE_free(store);
    PKCS7_free(message);
    BIO_free(input);
    free(bytes);
    return receipt;
}

void openssl_receipt_free(openssl_receipt *receipt) {
    if (!receipt) return;
    for (size_t index = 0; index < receipt->purchase_count; index += 1) {
        openssl_purchase *purchase = &receipt->purchases[index];
        free(purchase->product_id);
        free(purchase->transaction_id);
        free(purchase->original_transaction_id);
        free(purchase->promotional_offer_id);
        free(purchase->purchase_date);
        free(purchase->original_purchase_date);
        free(purchase->expires_date);
        free(purchase->cancellation_date);
    }
    free(receipt->purchases);
    free(receipt->receipt_type);
    free(receipt->bundle_id);
    free(receipt->application_version);
    free(receipt->original_application_version);
    free(receipt->creation_date);
    free(receipt->original_purchase_date);
    free(receipt->expiration_date);
    free(receipt->opaque_value);
    free(receipt->device_hash);
    free(receipt);
}

const char *openssl_receipt_library(void) { return OpenSSL_version(OPENSSL_VERSION); }
