#include "chart/fetch/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/fetch/common/fetcher.h"
#include "chart/fetch/common/provenance.h"
#include "chart/fetch/git/git.h"
#include "chart/fetch/reach/reach.h"
#include "chart/fetch/sources.h"
#include "chart/registry/registry.h"
#include "data/text/url.h"
#include "net/http/http.h"

enum { MAX_GETS = 256 }; /* charts of one recipe */

/* Every source by the start of its URL. */
static const struct source {
    const char *scheme;
    int (*get)(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
               struct sw_err *err);
    bool is_signed; /* it can have signatures */
} sources[] = {
    { "https://", fetch_repository, true }, { "http://", fetch_repository, true },
    { "oci://", fetch_oci, true },          { "git+https://", fetch_git, false },
    { "git+http://", fetch_git, false },    { "git+ssh://", fetch_git, false },
    { "git+file://", fetch_git, false },    { "cm://", fetch_config_map, false },
};

static const struct source *find_source(const char *url)
{
    for (size_t i = 0; i < SW_COUNT(sources); i++)
        if (sw_starts_with(url, sources[i].scheme))
            return &sources[i];
    return NULL;
}

bool sw_fetch_knows(const char *source)
{
    return find_source(source);
}

int sw_fetch_check(const char *url, struct sw_err *err)
{
    SW_AUTO_CHARS *known = sw_strdup("file://"), *shown = sw_url_shown(url);
    if (sw_starts_with(url, known) || sw_fetch_knows(url))
        return 0;
    for (size_t i = 0; i < SW_COUNT(sources); i++)
        sw_append(&known, ", %s", sources[i].scheme);
    return sw_err_set(err, SW_INVALID, "'%s': recipes come from URLs that begin with %s", shown,
                      known);
}

char *sw_fetch_cache_dir(void)
{
    const char *own = getenv("SLIPWAY_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (own)
        return *own ? sw_strdup(own) : NULL;
    if (xdg && *xdg == '/')
        return sw_printf("%s/slipway", xdg);
    return home && *home == '/' ? sw_printf("%s/.cache/slipway", home) : NULL;
}

/* ---- the fetcher -------------------------------------------------------------------------------
 */

struct sw_fetcher *sw_fetcher_new(const struct sw_fetch_opts *opts)
{
    struct sw_fetcher *f = sw_zalloc(1, sizeof *f);
    if (opts)
        f->opts = *opts;
    f->auth = f->opts.auth;
    if (!f->opts.cache_bytes)
        f->opts.cache_bytes = 256U << 20;
    if (!f->opts.max_bytes)
        f->opts.max_bytes = 64U << 20;
    if (!f->opts.timeout_ms)
        f->opts.timeout_ms = 120000;
    SW_AUTO_CHARS *dir = f->opts.cache_dir ? NULL : sw_fetch_cache_dir();
    f->cache = sw_cache_new(f->opts.cache_dir ? f->opts.cache_dir : dir, f->opts.cache_scope,
                            f->opts.cache_bytes);
    return f;
}

/* What was read for the credentials before: the server that has them, CAs and certificates. */
static void drop_auth(struct sw_fetcher *f)
{
    sw_http_tls_free(SW_TAKE(f->tls));
    sw_http_tls_free(SW_TAKE(f->own_tls));
    sw_url_server_done(&f->first);
    f->first = (struct sw_url_server){ 0 };
}

void sw_fetcher_set_auth(struct sw_fetcher *f, const struct sw_fetch_auth *auth)
{
    drop_auth(f);
    f->opts.auth = auth ? *auth : f->auth;
}

void sw_fetcher_free(struct sw_fetcher *f)
{
    if (!f)
        return;
    fetch_git_done(f);
    drop_auth(f);
    sw_cache_free(f->cache);
    for (size_t i = 0; i < f->n_got; i++) {
        free((char *)f->got[i].origin);
        free((char *)f->got[i].digest);
        free((char *)f->got[i].signer);
    }
    free(f->got);
    free(f->signer);
    free(f);
}

/* ---- getting -----------------------------------------------------------------------------------
 */

static struct sw_fetched *note_got(struct sw_fetcher *f, const char *origin, const char *digest)
{
    char *signer = SW_TAKE(f->signer);
    SW_GROW(f->got, f->n_got, f->cap_got);
    f->got[f->n_got] = (struct sw_fetched){ .origin = sw_strdup(origin),
                                            .digest = sw_strdup(digest),
                                            .signer = signer,
                                            .cached = f->cached };
    return &f->got[f->n_got++];
}

static int only_packed(const struct sw_fetcher *f, const char *source, struct sw_err *err)
{
    return sw_err_set(err, SW_INVALID, "%s: %s: only packed charts are signed", source,
                      fetch_asked_by(f));
}

/* A chart that could not be fetched: say which one, from where, why, and how to do without. */
static int say_not_fetched(const struct sw_recipe_ask *ask, int rc, struct sw_err *err)
{
    SW_AUTO_CHARS *why = sw_strdup(sw_err_text(err)), *shown = sw_url_shown(ask->url);
    const char *version = ask->version ? ask->version : "", *slash = strstr(shown, "://");
    bool is_named = strstr(why, slash ? slash + strlen("://") : shown);
    return sw_err_set(err, rc,
                      "chart %s%s%s cannot be fetched%s%s: %s; without a network, take the "
                      "recipe from a bundle ('slipway bundle', made where there is one), name a "
                      "mirror with --mirror, or put %s-%s.tgz into a folder and name it with "
                      "--charts-dir",
                      ask->name, *version ? " " : "", version, is_named ? "" : " from ",
                      is_named ? "" : shown, why, ask->name, *version ? version : "VERSION");
}

int sw_fetcher_get(void *fetcher, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                   struct sw_err *err)
{
    struct sw_fetcher *f = fetcher;
    struct sw_recipe_ask mirrored = *ask;
    SW_AUTO_CHARS *url = NULL;
    if (f->opts.mirror && !ask->base && sw_url_mirror(f->opts.mirror, ask->url, &url, err) < 0)
        return sw_err_wrap(err, SW_INVALID, "--mirror");
    mirrored.url = url ? url : ask->url;
    ask = &mirrored;
    bool relative = sw_starts_with(ask->url, "file://") && ask->base;
    const struct source *source = find_source(relative ? ask->base : ask->url);
    SW_AUTO_CHARS *shown = sw_url_shown(ask->url), *base = sw_url_shown(ask->base ? ask->base : "");
    if (!source)
        return sw_err_set(err, SW_INVALID, "%s: recipes cannot be read from there", shown);
    if (relative && source->get != fetch_git)
        return sw_err_set(
            err, SW_INVALID,
            "%s: a chart from %s depends on a folder, which is not fetched with it; put "
            "it in charts/",
            shown, base);
    if (f->n_got >= MAX_GETS)
        return sw_err_set(err, SW_INVALID, "%s: more than %d charts in one recipe", shown,
                          MAX_GETS);
    if (f->opts.verify && !source->is_signed)
        return only_packed(f, shown, err);
    f->cached = false;
    int rc = ask->name && !f->opts.verify ? fetch_at_hand(f, ask, got, err) : SW_NOTFOUND;
    if (rc == SW_NOTFOUND)
        rc = source->get(f, ask, got, err);
    bool is_not_there = rc == SW_UNAVAILABLE || rc == SW_NOTFOUND || rc == SW_FORBIDDEN;
    bool is_missing = is_not_there && ask->name && ask->is_release && f->opts.late &&
                      !sw_reach_refused(); /* of what may not be reached nothing is told */
    if (is_missing || (rc == SW_UNAVAILABLE && ask->name))
        rc = say_not_fetched(ask, rc, err);
    if (is_missing) {
        sw_recipe_got_done(got);
        rc = fetch_missing(ask, sw_err_text(err), got, err);
    }
    if (rc < 0) {
        sw_recipe_got_done(got);
        return rc;
    }
    struct sw_fetched *note = note_got(f, got->origin, got->digest);
    note->is_stand_in = got->is_stand_in;
    note->is_missing = is_missing;
    return 0;
}

static int stat_of(const struct sw_fetcher *f, const char *path, struct stat *st,
                   struct sw_err *err)
{
    int fd = f->opts.folders ? sw_folders_open(f->opts.folders, path, err) : -1;
    if (f->opts.folders && fd < 0)
        return fd;
    int rc = fd < 0 ? stat(path, st) : fstat(fd, st);
    if (rc < 0)
        rc = sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_NOTFOUND, "%s: %s", path,
                        strerror(errno));
    if (fd >= 0)
        (void)close(fd); /* what it is, is known */
    return rc;
}

static int read_file(const struct sw_fetcher *f, const char *path, char **out, size_t *len,
                     struct sw_err *err)
{
    return f->opts.folders
               ? sw_folders_read(f->opts.folders, path, f->opts.max_bytes, out, len, err)
               : sw_file_read(path, f->opts.max_bytes, out, len, err);
}

int sw_fetcher_open(struct sw_fetcher *f, const char *source, const struct sw_recipe_opts *opts,
                    struct sw_recipe **out, struct sw_err *err)
{
    if (!f->opts.verify || sw_fetch_knows(source))
        return sw_recipe_open(source, opts, out, err);
    const char *path = source + (sw_starts_with(source, "file://") ? strlen("file://") : 0);
    struct stat st;
    int rc = stat_of(f, path, &st, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", fetch_asked_by(f));
    if (S_ISDIR(st.st_mode))
        return only_packed(f, path, err);
    const char *slash = strrchr(path, '/');
    SW_AUTO_CHARS *signature = sw_printf("%s.prov", path), *text = NULL, *archive = NULL;
    struct sw_provenance p = { .name = slash ? slash + 1 : path };
    rc = read_file(f, path, &archive, &p.archive_len, err);
    if (rc == 0)
        rc = read_file(f, signature, &text, &p.text_len, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", fetch_asked_by(f));
    p.archive = archive;
    p.text = text;
    rc = fetch_verify(f, &p, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s%s%s", f->opts.asked_by ? fetch_asked_by(f) : "",
                           f->opts.asked_by ? ": " : "", signature);
    SW_AUTO_CHARS *digest = sw_digest_of(archive, p.archive_len);
    f->cached = false;
    (void)note_got(f, path, digest);
    return sw_recipe_from_archive(path, archive, p.archive_len, opts, out, err);
}

size_t sw_fetcher_n_got(const struct sw_fetcher *f)
{
    return f->n_got;
}

const struct sw_fetched *sw_fetcher_got(const struct sw_fetcher *f, size_t i)
{
    return &f->got[i];
}
