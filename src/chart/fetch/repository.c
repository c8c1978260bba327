/* A Helm repository, or one packaged chart, over http(s)://. */
#include <string.h>

#include "chart/fetch/common/fetcher.h"
#include "chart/fetch/common/provenance.h"
#include "chart/fetch/index.h"
#include "chart/fetch/sources.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/url.h"

/* ---- addresses ---------------------------------------------------------------------------------
 */

static bool is_archive(const char *url)
{
    static const char *const ends[] = { ".tgz", ".tar.gz", ".tar.zst", ".tar" };
    SW_AUTO_CHARS *path = sw_strndup(url, strcspn(url, "?#"));
    for (size_t i = 0; i < SW_COUNT(ends); i++)
        if (sw_ends_with(path, ends[i]))
            return true;
    return false;
}

/* The URL of @relative below the folder @base, with the query of @base. */
static char *below(const char *base, const char *relative)
{
    size_t len = strcspn(base, "?#");
    const char *query = base[len] == '?' && !strchr(relative, '?') ? base + len : "";
    size_t root = strcspn(strstr(base, "://") + 3, "/?#") +
                  (size_t)(strstr(base, "://") + 3 - base);
    if (*relative == '/')
        len = root;
    len = sw_before_slashes(base, len, root);
    return sw_printf("%.*s%s%s%s", (int)len, base, *relative == '/' ? "" : "/", relative, query);
}

/* ---- downloads ---------------------------------------------------------------------------------
 */

/* The current content of @url, from the cache if the server answers that it has not changed.
 * @*bytes is the caller's. */
static int download(struct sw_fetcher *f, const char *url, char **bytes, size_t *len,
                    struct sw_err *err)
{
    SW_AUTO_CHARS *key = sw_printf("GET %s", url);
    SW_AUTO_JSON *note = sw_cache_note(f->cache, key);
    SW_AUTO_CHARS *known = NULL;
    size_t known_len = 0;
    struct fetch_answer a = { 0 };
    const char *etag = sw_json_str(note, NULL, "etag", NULL),
               *modified = sw_json_str(note, NULL, "lastModified", NULL);
    bool is_known = (etag || modified) &&
                    sw_cache_get(f->cache, sw_json_str(note, "", "digest", NULL), &known,
                                 &known_len);
    int rc = fetch_http_get(f, url, is_known ? etag : NULL, is_known ? modified : NULL, &a, err);
    if (rc < 0)
        return rc;
    f->cached = !a.body;
    *bytes = a.body ? SW_TAKE(a.body) : SW_TAKE(known);
    *len = f->cached ? known_len : a.len;
    if (!f->cached) { /* the note is for the next conditional request */
        SW_AUTO_CHARS *digest = sw_digest_of(*bytes, *len);
        SW_AUTO_JSON *new_note = json_object_new_object();
        sw_cache_put(f->cache, digest, *bytes, *len);
        sw_json_set_str(new_note, digest, "digest", NULL);
        if (a.etag)
            sw_json_set_str(new_note, a.etag, "etag", NULL);
        if (a.last_modified)
            sw_json_set_str(new_note, a.last_modified, "lastModified", NULL);
        sw_cache_set_note(f->cache, key, new_note);
    }
    fetch_answer_done(&a);
    return 0;
}

/* The signature is in the file beside the archive, ".prov". @*text: what is in it; the caller's. */
static int verify(struct sw_fetcher *f, const char *url, const char *bytes, size_t len, char **text,
                  struct sw_err *err)
{
    size_t path_len = strcspn(url, "?#");
    SW_AUTO_CHARS *path = sw_strndup(url, path_len);
    SW_AUTO_CHARS *beside = sw_printf("%s.prov%s", path, url + path_len);
    SW_AUTO_CHARS *shown = sw_url_shown(beside);
    struct sw_provenance p = { .name = strrchr(path, '/') + 1,
                               .archive = bytes,
                               .archive_len = len };
    bool cached = f->cached;
    int rc = download(f, beside, text, &p.text_len, err);
    f->cached = cached;
    p.text = *text;
    if (rc == 0)
        rc = fetch_verify(f, &p, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s: %s", fetch_asked_by(f), shown) : 0;
}

/* A packaged chart. @digest: of the index, else ""; with it the cache is asked first. */
static int get_archive(struct sw_fetcher *f, const char *url, const char *digest,
                       struct sw_recipe_got *got, struct sw_err *err)
{
    SW_AUTO_CHARS *shown = sw_url_shown(url);
    SW_AUTO_CHARS *full = *digest && !strchr(digest, ':') ? sw_printf("sha256:%s", digest)
                                                          : sw_strdup(digest);
    SW_AUTO_CHARS *bytes = NULL;
    size_t len = 0;
    f->cached = *full && sw_cache_get(f->cache, full, &bytes, &len);
    int rc = f->cached ? 0 : download(f, url, &bytes, &len, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", shown);
    SW_AUTO_CHARS *signature = NULL;
    if (f->opts.verify)
        rc = verify(f, url, bytes, len, &signature, err);
    if (rc == 0)
        rc = fetch_take_archive(shown, full, SW_TAKE(bytes), len, got, err);
    if (rc == 0)
        got->provenance = SW_TAKE(signature);
    return rc;
}

/* ---- a repository ------------------------------------------------------------------------------
 */

static int get_entry(struct sw_fetcher *f, const struct sw_recipe_ask *ask, const char *url,
                     const struct sw_index_entry *entry, struct sw_recipe_got *got,
                     struct sw_err *err)
{
    const char *colon = strstr(entry->url, "://");
    bool is_absolute = colon && !memchr(entry->url, '/', (size_t)(colon - entry->url));
    SW_AUTO_CHARS *full = is_absolute ? sw_strdup(entry->url) : below(ask->url, entry->url);
    if (sw_starts_with(full, "oci://"))
        return fetch_oci(f, &(struct sw_recipe_ask){ .url = full, .version = entry->version }, got,
                         err);
    if (!sw_starts_with(full, "http://") && !sw_starts_with(full, "https://")) {
        SW_AUTO_CHARS *shown = sw_url_shown(full);
        return sw_err_set(err, SW_INVALID, "%s: chart '%s' is at %s, which is not supported", url,
                          ask->name, shown);
    }
    int rc = get_archive(f, full, entry->digest, got, err);
    if (rc == 0)
        got->version = sw_strdup(entry->version);
    return rc;
}

int fetch_repository(struct sw_fetcher *f, const struct sw_recipe_ask *ask,
                     struct sw_recipe_got *got, struct sw_err *err)
{
    if (!ask->name || !*ask->name || is_archive(ask->url))
        return get_archive(f, ask->url, "", got, err);
    SW_AUTO_CHARS *url = below(ask->url, "index.yaml");
    SW_AUTO_CHARS *shown = sw_url_shown(url);
    SW_AUTO_CHARS *text = NULL;
    SW_AUTO_JSON *index = NULL;
    struct sw_index_entry entry;
    size_t len;
    int rc = download(f, url, &text, &len, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", shown);
    rc = sw_index_parse(shown, text, len, &index, err);
    if (rc < 0)
        return rc;
    rc = sw_index_find(index, ask->name, ask->version, &entry, err);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", shown) : get_entry(f, ask, shown, &entry, got, err);
}
