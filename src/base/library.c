#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool sw_archive_load(const struct sw_archive_symbol *symbols, size_t n_symbols, void *into)
{
    void *handle = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return false;
    for (size_t i = 0; i < n_symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return false;
        memcpy((char *)into + symbols[i].offset, &symbol, sizeof symbol);
    }
    return true;
}
