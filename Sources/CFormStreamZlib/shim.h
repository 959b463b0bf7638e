// zlib, as FormStreamHTTP/Internals uses it.
//
// Swift can't call zlib's macros: here is a function for each.
#ifndef FORMSTREAM_CZLIB_H
#define FORMSTREAM_CZLIB_H

#include <zlib.h>

// 16 more than the size of the window means a gzip header and trailer.
static inline int formstream_deflate_init_gzip(z_stream *stream) {
  return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

static inline int formstream_inflate_init(z_stream *stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

#endif
