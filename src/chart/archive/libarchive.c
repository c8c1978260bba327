#include "chart/archive/libarchive.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define SW_ARCHIVE_SYMBOL(function, name)                                                          \
    { #function, offsetof(struct sw_archive_functions, name) },
    SW_ARCHIVE_FUNCTIONS(SW_ARCHIVE_SYMBOL)
#undef SW_ARCHIVE_SYMBOL
};

struct sw_archive_functions sw_archive;
static bool is_loaded;

static void load(void)
{
    void *handle = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    for (size_t i = 0; i < SW_COUNT(symbols); i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return;
        memcpy((char *)&sw_archive + symbols[i].offset, &symbol, sizeof symbol);
    }
    is_loaded = true;
}

bool sw_archive_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load);
    return is_loaded;
}
