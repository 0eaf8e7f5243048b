#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Macros, which Swift doesn't import: each has its own name with a C before it.

static inline int CSSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline void CSSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

static inline void CSSL_CTX_set_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_mode(context, mode);
}

static inline int CSSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int CSSL_set_tlsext_host_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}

static const uint64_t CSSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t CSSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;

static inline EVP_PKEY *CEVP_EC_gen(const char *curve) {
    return EVP_EC_gen(curve);
}
