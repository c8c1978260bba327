#include "chart/fetch/git/gitlib.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/library.h"

#if SW_HAVE_GIT
#define SONAME "libgit2.so." LIBGIT2_SOVERSION

static const struct sw_symbol symbols[] = {
#define SW_GIT_SYMBOL(function, name) SW_SYMBOL(function, struct sw_git_lib, name),
    SW_GIT_FUNCTIONS(SW_GIT_SYMBOL)
#undef SW_GIT_SYMBOL
};

/* Load the library and find its functions. */
static int load(struct sw_git_lib *lib, struct sw_err *err)
{
    const char *missing;
    if (!sw_library_load(SONAME, RTLD_NOW | RTLD_LOCAL, symbols, SW_COUNT(symbols), lib, &missing))
        return missing ? sw_err_set(err, SW_UNAVAILABLE, SONAME " has no %s", missing)
                       : sw_err_set(
                             err, SW_UNAVAILABLE,
                             "git repositories are read by libgit2, which is not installed (" SONAME
                             ")");
    return lib->init() < 0 ? sw_err_set(err, SW_UNAVAILABLE, SONAME " does not start") : 0;
}

const struct sw_git_lib *sw_git_load(struct sw_err *err)
{
    static struct sw_git_lib lib; /* one a process */
    static bool loaded;
    if (!loaded && load(&lib, err) < 0)
        return NULL;
    loaded = true;
    return &lib;
}
#endif
