/* git+https://, git+ssh://, git+file://: the tree of one commit, fetched by libgit2.
 *
 * libgit2 has no timeouts, so that it connects to the server in a child process, which is killed at
 * the deadline. The child writes the objects to a folder, from which the chart's files are read
 * here. */
#include "chart/fetch/git/git.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/fetch/common/fetcher.h"
#include "chart/fetch/git/gitchild.h"
#include "chart/fetch/git/gittree.h"
#include "chart/fetch/git/giturl.h"
#include "chart/recipe/load/files.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/url.h"

/* A git repository as far as it was fetched: objects in a folder of its own. All is owned. */
struct git_store {
    char *remote; /* as in struct sw_git_url */
    char *commit; /* 40 digits; NULL: not known yet */
    char *dir;
    bool is_complete; /* the commit's tree is there */
    struct git_store *next;
};

void fetch_git_done(struct sw_fetcher *f)
{
    while (f->stores) {
        struct git_store *s = f->stores;
        f->stores = s->next;
        if (s->dir)
            sw_cache_remove(s->dir);
        free(s->remote);
        free(s->commit);
        free(s->dir);
        free(s);
    }
}

static bool is_commit(const char *ref)
{
    size_t n = strspn(ref, "0123456789abcdef");
    return n == 40 && !ref[n];
}

/* ---- the cache ---------------------------------------------------------------------------------
 */

/* The key of the note about a chart of a commit. A commit's name is the digest of its contents. */
static char *key_of(const struct sw_git_url *url, const char *commit, const char *name)
{
    return sw_printf("git %s %s %s %s", url->remote, commit, url->path, name ? name : "");
}

static bool find_cached(struct sw_fetcher *f, const struct sw_git_url *url, const char *commit,
                        const char *name, struct sw_recipe_got *got)
{
    SW_AUTO_CHARS *key = key_of(url, commit, name);
    SW_AUTO_JSON *note = sw_cache_note(f->cache, key);
    const char *digest = sw_json_str(note, "", "digest", NULL),
               *path = sw_json_str(note, "", "path", NULL);
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    if (!sw_cache_get(f->cache, digest, &bytes, &len))
        return false;
    struct sw_files files = sw_files_init(NULL);
    SW_ERR(err);
    bool ok = sw_files_read_bundle(&files, bytes, len, &err) == 0;
    if (ok) {
        *got = (struct sw_recipe_got){ .files = files.items,
                                       .n_files = files.n,
                                       .origin = sw_git_url_text(url, path, commit),
                                       .digest = sw_strdup(digest) };
        files.items = NULL;
        files.n = 0;
    }
    sw_files_done(&files);
    f->cached = ok;
    return ok;
}

/* Put the chart's files into the cache. */
static void put_cached(struct sw_fetcher *f, const struct sw_git_url *url, const char *commit,
                       const char *name, const char *path, const struct sw_files *files,
                       char **digest)
{
    SW_AUTO_CHARS *key = key_of(url, commit, name);
    SW_AUTO_CHARS *bytes = NULL;
    SW_AUTO_JSON *note = json_object_new_object();
    size_t len;
    sw_files_to_bundle(files, &bytes, &len);
    *digest = sw_digest_of(bytes, len);
    sw_cache_put(f->cache, *digest, bytes, len);
    sw_json_set_str(note, *digest, "digest", NULL);
    sw_json_set_str(note, path, "path", NULL);
    sw_cache_set_note(f->cache, key, note);
}

/* ---- the repository ----------------------------------------------------------------------------
 */

/* Leave in @auth what may be sent to the URL's server. @why: set where something is withheld. */
static void choose_login(struct sw_fetcher *f, const struct sw_git_url *url,
                         struct sw_fetch_auth *auth, struct sw_err *why)
{
    bool is_folder = *url->remote == '/', has_login = auth->username || auth->password;
    if (is_folder || fetch_may_log_in(f, url->remote, has_login ? why : NULL) < 0)
        auth->username = auth->password = NULL;
    if (is_folder || !fetch_is_trusted(f, url->remote))
        auth->key_file = NULL;
    if (url->username)
        auth->username = url->username;
    if (url->password && fetch_may_send(f, url->remote, why) == 0)
        auth->password = url->password;
}

static int say_withheld(int rc, const struct sw_err *why, struct sw_err *err)
{
    return rc == SW_FORBIDDEN && why->code < 0
               ? sw_err_set(err, rc, "%s (%s)", sw_err_text(err), sw_err_text(why))
               : rc;
}

/* Find the URL's commit and fetch its objects. If the cache has the chart, it is in @got instead.
 */
static int fetch_commit(struct sw_fetcher *f, const struct sw_git_url *url, const char *name,
                        struct sw_recipe_got *got, struct git_store **out, struct sw_err *err)
{
    struct git_store *s = sw_zalloc(1, sizeof *s);
    s->remote = sw_strdup(url->remote);
    s->next = f->stores;
    f->stores = s; /* its folder is removed with the fetcher */
    struct git_job job = { .url = url, .auth = f->opts.auth, .max_bytes = 4 * f->opts.max_bytes };
    SW_ERR(why);
    choose_login(f, url, &job.auth, &why);
    int rc = fetch_time_left(f, &job.timeout_ms, err);
    if (rc == 0)
        rc = sw_cache_temp(f->cache, &s->dir, err);
    if (rc < 0)
        return rc;
    job.dir = s->dir;
    *out = s;
    if (is_commit(url->ref))
        s->commit = sw_strdup(url->ref);
    else
        rc = git_child_find(&job, &s->commit, err);
    if (rc < 0)
        return say_withheld(rc, &why, err);
    if (find_cached(f, url, s->commit, name, got))
        return 0;
    rc = fetch_time_left(f, &job.timeout_ms, err);
    job.commit = s->commit;
    if (rc == 0)
        rc = git_child_fetch(&job, err);
    s->is_complete = rc == 0;
    return rc < 0 ? say_withheld(rc, &why, err) : 0;
}

static int read_chart(struct sw_fetcher *f, const struct sw_git_url *url, const struct git_store *s,
                      const char *name, struct sw_recipe_got *got, struct sw_err *err)
{
    struct sw_files files = sw_files_init(NULL);
    SW_AUTO_CHARS *path = NULL;
    int rc = git_tree_read(s->dir, s->commit, url->path, name, &files, &path, err);
    if (rc == 0) {
        put_cached(f, url, s->commit, name, path, &files, &got->digest);
        got->files = files.items;
        got->n_files = files.n;
        got->origin = sw_git_url_text(url, path, s->commit);
        files.items = NULL;
        files.n = 0;
    }
    sw_files_done(&files);
    return rc;
}

int fetch_git(struct sw_fetcher *f, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
              struct sw_err *err)
{
    struct sw_git_url url = { 0 };
    bool relative = sw_starts_with(ask->url, "file://");
    int rc = sw_git_url_parse(relative ? ask->base : ask->url, &url, err);
    if (rc == 0 && relative) { /* file://../other: another folder of the same commit */
        SW_AUTO_CHARS *from = SW_TAKE(url.path);
        rc = sw_git_path_join(from, ask->url + strlen("file://"), &url.path, err);
    }
    if (rc == 0 && *url.remote == '/' && f->opts.folders) {
        int fd = sw_folders_open(f->opts.folders, url.remote, err);
        rc = fd < 0 ? fd : close(fd);
    }
    if (rc < 0) {
        sw_git_url_done(&url);
        return rc;
    }
    SW_AUTO_CHARS *shown = sw_url_shown(relative ? ask->base : ask->url);
    const char *name = relative ? NULL : ask->name;
    bool is_cached = is_commit(url.ref) && find_cached(f, &url, url.ref, name, got);
    struct git_store *s = f->stores;
    while (s &&
           !(s->is_complete && sw_streq(s->remote, url.remote) && sw_streq(s->commit, url.ref)))
        s = s->next;
    if (!is_cached && !s)
        rc = fetch_commit(f, &url, name, got, &s, err);
    if (rc == 0 && s && !got->origin)
        rc = read_chart(f, &url, s, name, got, err);
    sw_git_url_done(&url);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", shown) : 0;
}
