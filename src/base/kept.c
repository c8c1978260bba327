#include "base/kept.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IN_FILE_BYTES = 16 << 10 };

struct sw_kept {
    size_t refs; /* besides the first */
    char *bytes;
    size_t len;
    size_t skipped; /* bytes before these */
    bool is_mapped;
};

/* @return the content of @fd, which is closed; NULL: it cannot be mapped */
static char *map(int fd, size_t len)
{
    void *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static char *map_copy(const char *bytes, size_t len)
{
    int fd = sw_file_unnamed();
    size_t done = 0;
    while (fd >= 0 && done < len) {
        ssize_t n = write(fd, bytes + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            (void)close(fd);
            return NULL;
        }
        done += (size_t)n;
    }
    return fd < 0 ? NULL : map(fd, len);
}

struct sw_kept *sw_kept_new(const char *bytes, size_t len)
{
    struct sw_kept *k = sw_zalloc(1, sizeof *k);
    *k = (struct sw_kept){ .len = len };
    if (len >= IN_FILE_BYTES && (k->bytes = map_copy(bytes, len)))
        k->is_mapped = true;
    else
        k->bytes = sw_strndup(bytes, len);
    return k;
}

int sw_kept_take_file(int fd, size_t most, struct sw_kept **out, struct sw_err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        (void)close(fd);
        return sw_err_set(err, SW_UNAVAILABLE, "what was written cannot be read");
    }
    if (st.st_size < 0 || (uintmax_t)st.st_size > most) {
        (void)close(fd);
        return sw_err_set(err, SW_INVALID, "more than %zu bytes", most);
    }
    const size_t len = (size_t)st.st_size;
    struct sw_kept *k = sw_zalloc(1, sizeof *k);
    *k = (struct sw_kept){ .len = len, .is_mapped = len > 0 };
    if (!len)
        (void)close(fd);
    k->bytes = len ? map(fd, len) : sw_strdup("");
    if (!k->bytes) {
        free(k);
        return sw_err_set(err, SW_UNAVAILABLE, "what was written cannot be read");
    }
    *out = k;
    return 0;
}

void sw_kept_skip(struct sw_kept *k, size_t n)
{
    assert(n <= k->len);
    k->bytes += n;
    k->len -= n;
    k->skipped += n;
}

struct sw_kept *sw_kept_ref(struct sw_kept *k)
{
    k->refs++;
    return k;
}

void sw_kept_free(struct sw_kept *k)
{
    if (!k || k->refs-- > 0)
        return;
    if (k->is_mapped)
        (void)munmap(k->bytes - k->skipped, k->len + k->skipped);
    else
        free(k->bytes - k->skipped);
    free(k);
}

const char *sw_kept_bytes(const struct sw_kept *k)
{
    return k->bytes;
}

size_t sw_kept_len(const struct sw_kept *k)
{
    return k->len;
}

void sw_kept_rest_range(const struct sw_kept *k, const char *bytes, size_t len)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)bytes & ~(page - 1);
    if (k->is_mapped)
        (void)madvise((void *)begin, (uintptr_t)bytes + len - begin, MADV_DONTNEED); /* a hint */
}

void sw_kept_rest(const struct sw_kept *k)
{
    sw_kept_rest_range(k, k->bytes, k->len);
}

bool sw_kept_equal(const struct sw_kept *k, const char *bytes, size_t len)
{
    const bool equal = k->len == len && memcmp(k->bytes, bytes, len) == 0;
    if (k->len == len)
        sw_kept_rest(k);
    return equal;
}

bool sw_kept_is_away(const struct sw_kept *k)
{
    return k->is_mapped;
}
