// libcrypto's EVP. Only FormStreamDigest/Internals uses it, for SHA-256, SHA-1, SHA-512/256 and MD5.
#ifndef FORMSTREAM_CCRYPTO_H
#define FORMSTREAM_CCRYPTO_H

#include <openssl/evp.h>

#endif
