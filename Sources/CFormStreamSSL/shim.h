// libssl, and the certificates and keys of libcrypto. Only FormStreamHTTP/Internals/CertificateCheck.swift,
// ServerCertificate.swift and PublicKeyFile.swift use them. Here are the macros, which Swift can't call.
#ifndef FORMSTREAM_CSSL_H
#define FORMSTREAM_CSSL_H

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline int formstream_ssl_new_context_index(CRYPTO_EX_free *release) {
  return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, release);
}

static inline int formstream_certificate_count(const STACK_OF(X509) *chain) {
  return sk_X509_num(chain);
}

static inline X509 *formstream_certificate_at(const STACK_OF(X509) *chain, int index) {
  return sk_X509_value(chain, index);
}

static inline int formstream_name_count(const GENERAL_NAMES *names) {
  return sk_GENERAL_NAME_num(names);
}

static inline GENERAL_NAME *formstream_name_at(const GENERAL_NAMES *names, int index) {
  return sk_GENERAL_NAME_value(names, index);
}

#endif
