/* Packaged charts as a source: tar, plain or packed with gzip or zstd, read by libarchive in
 * memory. */
#include "chart/recipe/load/files.h"

#include <stdlib.h>
#include <string.h>

#include "chart/archive/libarchive.h"

struct reader {
    struct archive *archive;
    struct sw_files *files;
    size_t n_entries;
    bool is_whole; /* names are taken as they are: there is no folder around all */
    bool is_loose; /* a file is in no folder */
};

/* The name without its first folder, checked; NULL with @err set. The caller's. */
static char *inner_name(struct reader *r, const char *name, struct sw_err *err)
{
    const char *problem = NULL;
    SW_AUTO_CHARS *path = sw_strdup(name);
    for (char *c = path; *c; c++)
        if (*c == '\\')
            *c = '/';
    SW_AUTO_CHARS *inner = sw_zalloc(strlen(path) + 1, 1);
    size_t len = 0, depth = r->is_whole ? 1 : 0;
    for (const char *part = path, *end; part && !problem; part = *end ? end + 1 : NULL) {
        end = part + strcspn(part, "/");
        size_t part_len = (size_t)(end - part);
        if (part == path && part_len == 0)
            problem = "an absolute path";
        else if (part_len == 2 && memcmp(part, "..", 2) == 0)
            problem = "a path that leads outside the archive";
        else if (part_len > 0 && !(part_len == 1 && *part == '.') && depth++ > 0) {
            if (len)
                inner[len++] = '/';
            memcpy(inner + len, part, part_len);
            len += part_len;
        }
    }
    if (!problem && len == 0) {
        problem = "not in the chart's folder";
        r->is_loose = true;
    }
    if (problem)
        (void)sw_err_set(err, SW_INVALID, "'%s': %s", name, problem);
    return problem ? NULL : SW_TAKE(inner);
}

static int read_entry(struct reader *r, const char *name, struct sw_err *err)
{
    size_t room = r->files->limits.max_bytes - r->files->bytes;
    size_t cap = 4096, len = 0;
    SW_AUTO_CHARS *bytes = sw_alloc(cap + 1);
    for (;;) {
        if (len == cap) {
            cap *= 2;
            bytes = sw_realloc(bytes, cap + 1, 1);
        }
        ssize_t n = sw_archive.read_data(r->archive, bytes + len, cap - len);
        if (n < 0)
            return sw_err_set(err, SW_INVALID, "%s: %s", name, sw_archive.error_string(r->archive));
        if (n == 0)
            break;
        len += (size_t)n;
        if (len > room)
            return sw_err_set(err, SW_INVALID, "%s: unpacks to more than %zu bytes in all", name,
                              r->files->limits.max_bytes);
    }
    bytes[len] = '\0';
    return sw_files_add(r->files, name, SW_TAKE(bytes), len, err);
}

static int on_entry(struct reader *r, struct archive_entry *entry, struct sw_err *err)
{
    /* headers are limited too, not only files: they can be large and many */
    const struct sw_recipe_opts *limits = &r->files->limits;
    uint64_t most = limits->max_bytes + 4096 * (uint64_t)limits->max_files;
    int64_t unpacked = sw_archive.filter_bytes(r->archive, 0);
    if (unpacked > 0 && (uint64_t)unpacked > most)
        return sw_err_set(err, SW_INVALID, "unpacks to more than %zu bytes", limits->max_bytes);
    if (++r->n_entries > 2 * limits->max_files)
        return sw_err_set(err, SW_INVALID, "more than %zu files", limits->max_files);
    const char *raw = sw_archive.entry_pathname(entry);
    raw = raw ? raw : sw_archive.entry_pathname_utf8(entry);
    if (!raw)
        return sw_err_set(err, SW_INVALID, "entry %zu: its name is no UTF-8", r->n_entries);
    unsigned type = sw_archive.entry_filetype(entry);
    if (type == AE_IFDIR)
        return 0;
    SW_AUTO_CHARS *name = inner_name(r, raw, err);
    if (!name)
        return SW_INVALID;
    if (type != AE_IFREG || sw_archive.entry_hardlink(entry))
        return sw_err_set(err, SW_INVALID, "'%s': %s", raw,
                          type == AE_IFLNK || sw_archive.entry_hardlink(entry) ? "a link"
                                                                               : "not a file");
    return read_entry(r, name, err);
}

/* Whether it is a text, no archive, with apiVersion and another key. */
static bool has_keys(const char *bytes, size_t len, const char *key)
{
    static const char version[] = "apiVersion:";
    return !memchr(bytes, '\0', len) && memmem(bytes, len, version, strlen(version)) &&
           memmem(bytes, len, key, strlen(key));
}

static int read_all(struct reader *r, const void *bytes, size_t len, struct sw_err *err)
{
    if (len == 0)
        return sw_err_set(err, SW_INVALID, "not a packaged chart: it is empty");
    if (has_keys(bytes, len < 4096 ? len : 4096, "kind:"))
        return sw_err_set(err, SW_INVALID,
                          "not a packaged chart: a manifest, which kubectl applies; a recipe is a "
                          "folder, a packaged chart or a URL");
    if (len < 65536 && has_keys(bytes, len, "name:"))
        return sw_err_set(err, SW_INVALID,
                          "not a packaged chart: of a chart as a folder, name the folder");
    (void)sw_archive.read_tar(r->archive); /* an unsupported format fails when it is opened */
    (void)sw_archive.read_gzip(r->archive);
    (void)sw_archive.read_zstd(r->archive);
    if (sw_archive.read_open_memory(r->archive, bytes, len) != ARCHIVE_OK)
        return sw_err_set(err, SW_INVALID, "not a packaged chart: %s",
                          sw_archive.error_string(r->archive));
    for (;;) {
        struct archive_entry *entry;
        int status = sw_archive.read_header(r->archive, &entry);
        if (status == ARCHIVE_EOF)
            return r->n_entries ? 0 : sw_err_set(err, SW_INVALID, "an empty archive");
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            return sw_err_set(err, SW_INVALID, "not a packaged chart: %s",
                              sw_archive.error_string(r->archive));
        int rc = on_entry(r, entry, err);
        if (rc < 0)
            return rc;
    }
}

static int read_with(struct reader *r, const void *bytes, size_t len, struct sw_err *err)
{
    r->archive = sw_archive.read_new();
    if (!r->archive)
        return sw_err_set(err, SW_UNAVAILABLE, "no memory for libarchive");
    int rc = read_all(r, bytes, len, err);
    (void)sw_archive.read_free(r->archive);
    return rc;
}

/* Read an archive again that has files in no folder: a bundle of AICR is packed so in a registry.
 * @return false: it is none, and @files is empty */
static bool read_whole_bundle(struct sw_files *files, const void *bytes, size_t len)
{
    const struct sw_recipe_opts limits = files->limits;
    struct reader whole = { .files = files, .is_whole = true };
    SW_ERR(ignored);
    sw_files_done(files);
    *files = sw_files_init(&limits);
    bool is_bundle = false;
    if (read_with(&whole, bytes, len, &ignored) == 0 && sw_files_sort(files, &ignored) == 0) {
        const struct sw_aicr_files found = sw_files_aicr(files);
        is_bundle = sw_aicr_is_source(&found);
        free((void *)found.items);
    }
    if (is_bundle)
        return true;
    sw_files_done(files);
    *files = sw_files_init(&limits);
    return false;
}

int sw_files_read_archive(struct sw_files *files, const char *origin, const void *bytes, size_t len,
                          struct sw_err *err)
{
    if (!sw_archive_load())
        return sw_err_set(err, SW_UNAVAILABLE, "%s: reading it needs libarchive (libarchive.so.13)",
                          origin);
    struct reader r = { .files = files };
    int rc = read_with(&r, bytes, len, err);
    if (rc < 0 && r.is_loose && read_whole_bundle(files, bytes, len))
        rc = 0;
    if (rc == 0)
        rc = sw_files_sort(files, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", origin) : 0;
}
