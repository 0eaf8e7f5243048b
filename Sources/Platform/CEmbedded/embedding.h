// BEGIN(name), #embed, END(name): no macro can hold a directive.
#include "CEmbedded.h"

#ifndef __has_embed
#error "Swift 6.2 or later is needed: this compiler can't embed files"
#endif
// An extension here, the standard's from C23 on.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define BEGIN(name) static const char name[] = {
#define END(name)                                                          \
    };                                                                     \
    struct EmbeddedFile embedded_##name(void) {                            \
        struct EmbeddedFile file = {name, (ptrdiff_t)sizeof(name) - 1};    \
        return file;                                                       \
    }
