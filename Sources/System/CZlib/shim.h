// zlib's initialisers are macros, which Swift doesn't import: they pass on the version and the size of the structure
// that the caller was compiled with, for zlib to check.
#include <zlib.h>

static inline int czlib_inflate_init(z_streamp stream, int window_bits)
{
    return inflateInit2(stream, window_bits);
}

static inline int czlib_deflate_init(z_streamp stream, int level, int window_bits, int memory_level)
{
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}
