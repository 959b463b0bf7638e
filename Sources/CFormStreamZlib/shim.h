// zlib. Only FormStreamTransfer/Internals/Deflater.swift uses it.
#ifndef FORMSTREAM_CZLIB_H
#define FORMSTREAM_CZLIB_H

#include <zlib.h>

// A macro, which Swift can't call. 16 more than the size of the window means a gzip header and trailer.
static inline int formstream_deflate_init_gzip(z_stream *stream) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
