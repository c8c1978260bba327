/* Addresses of git repositories. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chart/fetch/git/giturl.h"

/* What was taken apart has no way out of the repository, and means the same once put together. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    SW_AUTO_CHARS *text = sw_strndup((const char *)data, len);
    struct sw_git_url url, again;
    SW_ERR(err);
    if (sw_git_url_parse(text, &url, &err) < 0)
        return 0;
    assert(url.path[0] != '/' && strncmp(url.path, "../", 3) != 0 && strcmp(url.path, "..") != 0);
    assert(!strstr(url.path, "/../") && !strstr(url.path, "//"));
    SW_AUTO_CHARS *joined = NULL;
    if (sw_git_path_join(url.path, "../x", &joined, &err) == 0)
        assert(strstr(joined, "..") == NULL || strstr(url.path, "..") != NULL);
    if (!strpbrk(url.path, "?&%") && !strpbrk(url.ref, "?&%")) {
        SW_AUTO_CHARS *whole = sw_git_url_text(&url, url.path, url.ref);
        assert(sw_git_url_parse(whole, &again, &err) == 0);
        assert(strcmp(url.remote, again.remote) == 0 && strcmp(url.path, again.path) == 0 &&
               strcmp(url.ref, again.ref) == 0);
        sw_git_url_done(&again);
    }
    sw_git_url_done(&url);
    return 0;
}
