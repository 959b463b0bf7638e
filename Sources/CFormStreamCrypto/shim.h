// libcrypto's EVP. Records takes SHA-256 from it and nothing else, in one file; the header has more.
#ifndef FORMSTREAM_CCRYPTO_H
#define FORMSTREAM_CCRYPTO_H

#include <openssl/evp.h>

#endif
