// The content of all embedded files.
#include "CEmbedded.h"

#ifndef __has_embed
#error "Swift 6.2 or later is needed: this compiler can't embed files"
#endif
// An extension here, the standard's from C23 on.
#pragma clang diagnostic ignored "-Wc23-extensions"

// A macro can't contain a directive, so the array begins and ends with one macro each.
#define EMBEDDED_CONTENT
#define EMBEDDED(name) static const char name[] = {
#define EMBEDDED_END(name)                                                 \
    };                                                                     \
    struct EmbeddedFile embedded_##name(void) {                            \
        struct EmbeddedFile file = {name, (ptrdiff_t)sizeof(name) - 1};    \
        return file;                                                       \
    }
#include "folders.inc"
