// libcrypto's EVP. Only FormStreamDigest/Internals/SHA256.swift uses it, and only for SHA-256.
#ifndef FORMSTREAM_CCRYPTO_H
#define FORMSTREAM_CCRYPTO_H

#include <openssl/evp.h>

#endif
