#include "chart/fetch/git/gittree.h"

#include <stdlib.h>
#include <string.h>

#include "chart/fetch/git/gitlib.h"
#include "chart/fetch/git/giturl.h"
#include "chart/recipe/load/ignore.h"

#if SW_HAVE_GIT

enum { MAX_DEPTH = 32, LINK_MAX = 4096 };

/* A chart that is read out of a commit. */
struct reading {
    const struct sw_git_lib *lib;
    git_repository *repo;
    git_tree *root;    /* of the commit */
    const char *chart; /* path of the chart in the repository, "" for its top */
    struct sw_files *files;
    struct sw_ignore *ignore;
};

/* ---- objects -----------------------------------------------------------------------------------
 */

static int fail(const struct reading *r, const char *path, struct sw_err *err)
{
    const git_error *last = r->lib->error_last();
    return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", path,
                      last && last->message ? last->message : "cannot be read");
}

/* @*bytes is the caller's. */
static int read_blob(const struct reading *r, const git_oid *id, const char *path, char **bytes,
                     size_t *len, struct sw_err *err)
{
    git_blob *blob = NULL;
    if (r->lib->blob_lookup(&blob, r->repo, id) < 0)
        return fail(r, path, err);
    git_object_size_t size = r->lib->blob_size(blob);
    int rc = sw_files_check(r->files, (size_t)size, err);
    if (rc == 0) {
        *bytes = sw_strndup(r->lib->blob_bytes(blob), (size_t)size);
        *len = (size_t)size;
    }
    r->lib->blob_free(blob);
    return rc < 0 ? sw_err_wrap(err, rc, "%s", path) : 0;
}

/* The object at @path of the commit. @return false: none */
static bool find(const struct reading *r, const char *path, git_filemode_t *mode, git_oid *id)
{
    git_tree_entry *entry = NULL;
    if (r->lib->tree_find(&entry, r->root, path) < 0)
        return false;
    *mode = r->lib->entry_mode(entry);
    *id = *r->lib->entry_id(entry);
    r->lib->entry_free(entry);
    return true;
}

static bool is_file(git_filemode_t mode)
{
    return mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

/* A link is read as the file that it names, which must be one of the repository. */
static int read_link(const struct reading *r, const git_oid *id, const char *path, char **bytes,
                     size_t *len, struct sw_err *err)
{
    SW_AUTO_CHARS *target = NULL, *full = NULL;
    size_t target_len;
    int rc = read_blob(r, id, path, &target, &target_len, err);
    if (rc < 0)
        return rc;
    if (target_len > LINK_MAX || strlen(target) != target_len)
        return sw_err_set(err, SW_INVALID, "%s: a damaged link", path);
    const char *slash = strrchr(path, '/');
    SW_AUTO_CHARS *folder = sw_strndup(path, slash ? (size_t)(slash - path) : 0);
    rc = sw_git_path_join(folder, target, &full, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s: a link", path);
    git_filemode_t mode;
    git_oid to;
    if (!find(r, full, &mode, &to) || !is_file(mode))
        return sw_err_set(err, SW_INVALID, "%s: a link to '%s', which is no file", path, target);
    return read_blob(r, &to, full, bytes, len, err);
}

/* ---- the chart's folder ------------------------------------------------------------------------
 */

static int read_tree(struct reading *r, const git_oid *id, const char *inner, int depth,
                     struct sw_err *err);

static char *in_chart(const struct reading *r, const char *inner)
{
    return sw_printf("%s%s%s", r->chart, *r->chart ? "/" : "", inner);
}

static int read_entry(struct reading *r, const git_tree_entry *entry, const char *inner, int depth,
                      struct sw_err *err)
{
    git_filemode_t mode = r->lib->entry_mode(entry);
    const git_oid *id = r->lib->entry_id(entry);
    if (sw_ignore_match(r->ignore, inner, mode == GIT_FILEMODE_TREE))
        return 0;
    if (mode == GIT_FILEMODE_TREE)
        return read_tree(r, id, inner, depth + 1, err);
    SW_AUTO_CHARS *path = in_chart(r, inner);
    char *bytes = NULL;
    size_t len = 0;
    int rc;
    if (is_file(mode))
        rc = read_blob(r, id, path, &bytes, &len, err);
    else if (mode == GIT_FILEMODE_LINK)
        rc = read_link(r, id, path, &bytes, &len, err);
    else
        return 0; /* another repository inside this one */
    return rc < 0 ? rc : sw_files_add(r->files, inner, bytes, len, err);
}

static int read_tree(struct reading *r, const git_oid *id, const char *inner, int depth,
                     struct sw_err *err)
{
    git_tree *tree = NULL;
    if (depth > MAX_DEPTH)
        return sw_err_set(err, SW_INVALID, "%s: more than %d folders in each other", inner,
                          MAX_DEPTH);
    if (r->lib->tree_lookup(&tree, r->repo, id) < 0)
        return fail(r, inner, err);
    int rc = 0;
    for (size_t i = 0; i < r->lib->tree_count(tree) && rc == 0; i++) {
        const git_tree_entry *entry = r->lib->tree_at(tree, i);
        const char *name = r->lib->entry_name(entry);
        if (sw_streq(name, "..") || sw_streq(name, ".") || strchr(name, '/'))
            rc = sw_err_set(err, SW_INVALID, "%s: '%s' is no name", inner, name);
        SW_AUTO_CHARS *path = sw_printf("%s%s%s", inner, *inner ? "/" : "", name);
        if (rc == 0)
            rc = read_entry(r, entry, path, depth, err);
    }
    r->lib->tree_free(tree);
    return rc;
}

/* The first of the folders where a chart could be that has one; heap. NULL: none. */
static char *choose(const struct reading *r, const char *path, const char *name)
{
    static const char *const forms[] = { "", "%", "charts/%" };
    for (size_t i = 0; i < (name && *name ? SW_COUNT(forms) : 1); i++) {
        SW_AUTO_CHARS *below = sw_printf("%.*s%s", (int)strcspn(forms[i], "%"), forms[i],
                                         i ? name : "");
        char *chart = sw_printf("%s%s%s", path, *path && *below ? "/" : "", below);
        SW_AUTO_CHARS *file = sw_printf("%s%sChart.yaml", chart, *chart ? "/" : "");
        git_filemode_t mode;
        git_oid id;
        if (find(r, file, &mode, &id))
            return chart;
        free(chart);
    }
    return NULL;
}

static int read_all(struct reading *r, const char *path, const char *name, char **found,
                    struct sw_err *err)
{
    SW_AUTO_CHARS *chart = choose(r, path, name);
    if (!chart)
        return sw_err_set(err, SW_NOTFOUND, "there is no Chart.yaml in '%s' of the repository",
                          *path ? path : "/");
    r->chart = chart;
    git_filemode_t mode;
    git_oid id;
    SW_AUTO_CHARS *ignore = in_chart(r, ".helmignore");
    SW_AUTO_CHARS *text = NULL;
    size_t len = 0;
    int rc = 0;
    if (find(r, ignore, &mode, &id) && is_file(mode))
        rc = read_blob(r, &id, ignore, &text, &len, err);
    if (rc == 0)
        rc = sw_ignore_new(ignore, text, len, &r->ignore, err);
    if (rc < 0)
        return rc;
    if (!*chart)
        id = *r->lib->object_id((git_object *)r->root);
    else if (!find(r, chart, &mode, &id))
        return fail(r, chart, err);
    rc = read_tree(r, &id, "", 0, err);
    if (rc == 0)
        rc = sw_files_sort(r->files, err);
    if (rc == 0)
        *found = SW_TAKE(chart);
    return rc;
}

static int open_root(struct reading *r, const char *dir, const char *commit, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s/repo", dir);
    git_oid oid;
    git_object *object = NULL;
    if (r->lib->repository_open(&r->repo, path) < 0 || r->lib->oid_read(&oid, commit) < 0 ||
        r->lib->object_lookup(&object, r->repo, &oid, GIT_OBJECT_ANY) < 0)
        return fail(r, commit, err);
    int rc = r->lib->object_peel((git_object **)&r->root, object, GIT_OBJECT_TREE);
    r->lib->object_free(object);
    return rc < 0 ? sw_err_set(err, SW_INVALID, "%s is no commit", commit) : 0;
}

int git_tree_read(const char *dir, const char *commit, const char *path, const char *name,
                  struct sw_files *files, char **found, struct sw_err *err)
{
    struct reading r = { .lib = sw_git_load(err), .files = files };
    if (!r.lib)
        return SW_UNAVAILABLE;
    (void)r.lib->set_opt(GIT_OPT_SET_OWNER_VALIDATION, 0);
    int rc = open_root(&r, dir, commit, err);
    if (rc == 0)
        rc = read_all(&r, path, name, found, err);
    sw_ignore_free(r.ignore);
    r.lib->tree_free(r.root);
    r.lib->repository_free(r.repo);
    return rc;
}

#else

int git_tree_read(const char *dir SW_UNUSED, const char *commit SW_UNUSED,
                  const char *path SW_UNUSED, const char *name SW_UNUSED,
                  struct sw_files *files SW_UNUSED, char **found SW_UNUSED, struct sw_err *err)
{
    return sw_err_set(err, SW_UNAVAILABLE, "this slipway was built without libgit2");
}
#endif
