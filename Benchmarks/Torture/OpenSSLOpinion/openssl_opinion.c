#include "openssl_opinion.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

/// The first error of the queue, which is what began it, and for a certificate path the path's own words.
static void take_reason(char *reason, size_t capacity) {
    const char *data = NULL;
    int flags = 0;
    unsigned long error = ERR_get_error_all(NULL, NULL, NULL, &data, &flags);
    const char *text = error ? ERR_reason_error_string(error) : NULL;
    int has_data = data && *data && flags & ERR_TXT_STRING;
    snprintf(reason, capacity, "%s%s%s", text ? text : "no reason given", has_data ? ": " : "", has_data ? data : "");
    ERR_clear_error();
}

static X509_STORE *make_store(const opinion_bytes *anchors, size_t anchor_count, int64_t moment) {
    X509_STORE *store = X509_STORE_new();
    if (!store) return NULL;
    for (size_t index = 0; index < anchor_count; index += 1) {
        const unsigned char *position = anchors[index].bytes;
        X509 *anchor = d2i_X509(NULL, &position, (long)anchors[index].count);
        int added = anchor && X509_STORE_add_cert(store, anchor);
        X509_free(anchor);
        if (!added) {
            X509_STORE_free(store);
            return NULL;
        }
    }
    X509_VERIFY_PARAM *parameters = X509_STORE_get0_param(store);
    X509_VERIFY_PARAM_set_time(parameters, (time_t)moment);
    // Receipts are no mail: without this, OpenSSL demands a leaf for S/MIME.
    X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_ANY);
    return store;
}

int openssl_opinion(
    opinion_bytes message, const opinion_bytes *anchors, size_t anchor_count, int64_t moment, char *reason,
    size_t capacity) {
    if (!reason || capacity == 0) return -1;
    reason[0] = 0;
    if (message.count > INT_MAX) return -1;
    ERR_clear_error();
    X509_STORE *store = make_store(anchors, anchor_count, moment);
    if (!store) return -1;
    // As the program does it: what follows the message is not looked at.
    BIO *input = BIO_new_mem_buf(message.bytes, (int)message.count);
    CMS_ContentInfo *cms = input ? d2i_CMS_bio(input, NULL) : NULL;
    int accepted = cms && CMS_verify(cms, NULL, store, NULL, NULL, CMS_BINARY) == 1;
    if (!accepted) take_reason(reason, capacity);
    CMS_ContentInfo_free(cms);
    BIO_free(input);
    X509_STORE_free(store);
    return accepted;
}

static int is_signed(X509 *leaf, opinion_bytes message, int is_sha256, opinion_bytes signature) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY *key = X509_get0_pubkey(leaf);
    int valid = context && key &&
        EVP_DigestVerifyInit(context, NULL, is_sha256 ? EVP_sha256() : EVP_sha1(), NULL, key) == 1 &&
        EVP_DigestVerify(context, signature.bytes, signature.count, message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    return valid;
}

int openssl_leaf_opinion(
    opinion_bytes message, int is_sha256, opinion_bytes signature, opinion_bytes leaf, const opinion_bytes *issuers,
    size_t issuer_count, int64_t moment, char *reason, size_t capacity) {
    if (!reason || capacity == 0) return -1;
    reason[0] = 0;
    if (leaf.count > INT_MAX) return -1;
    ERR_clear_error();
    X509_STORE *store = make_store(issuers, issuer_count, moment);
    if (!store) return -1;
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
    const unsigned char *position = leaf.bytes;
    X509 *certificate = d2i_X509(NULL, &position, (long)leaf.count);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    int accepted = 0;
    if (certificate && context && X509_STORE_CTX_init(context, store, certificate, NULL) == 1) {
        if (X509_verify_cert(context) != 1) {
            snprintf(reason, capacity, "%s", X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
        } else if (!is_signed(certificate, message, is_sha256, signature)) {
            snprintf(reason, capacity, "the signature does not match");
        } else {
            accepted = 1;
        }
    } else {
        take_reason(reason, capacity);
    }
    ERR_clear_error();
    X509_STORE_CTX_free(context);
    X509_free(certificate);
    X509_STORE_free(store);
    return accepted;
}

const char *openssl_opinion_library(void) { return OpenSSL_version(OPENSSL_VERSION); }
