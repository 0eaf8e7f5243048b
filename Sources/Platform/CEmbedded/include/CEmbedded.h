// Files that a program carries with it. In Swift `EmbeddedFile.basics_sql` and so on.
#include <stddef.h>

// An embedded file, in static memory.
struct EmbeddedFile {
    // The content, followed by a zero byte.
    const char *_Nonnull bytes;
    // The number of bytes without the final zero.
    ptrdiff_t count;
};

#define EMBEDDED(name) \
    struct EmbeddedFile embedded_##name(void) __attribute__((swift_name("getter:EmbeddedFile." #name "()")));

#include "../folders.inc"

#undef EMBEDDED
