#include "cli/recipe/source_flags.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart/fetch/fetch.h"
#include "chart/recipe/package/pack.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/command/cli.h"
#include "cli/recipe/helm_repositories.h"
#include "data/json/json.h"
#include "data/text/nearest.h"
#include "emulator/emulator.h"

/* A ConfigMap of the cluster, for cm:// URLs. @arg: its struct sw_connect_opts, or NULL. */
static int get_config_map(void *arg, const char *ns, const char *name, struct json_object **out,
                          struct sw_err *err)
{
    static const struct sw_connect_opts defaults;
    struct sw_connect_opts opts = arg ? *(const struct sw_connect_opts *)arg : defaults;
    struct sw_connection conn = { 0 };
    SW_AUTO_CHARS *text = NULL, *path = sw_printf("/api/v1/namespaces/%s/configmaps/%s", ns, name);
    size_t len;
    if (opts.emulate)
        return sw_err_set(err, SW_NOTFOUND, "the embedded cluster begins empty");
    opts.no_signals = true;
    int rc = sw_connection_init(&conn, "fetch", &opts, err);
    if (rc == 0)
        rc = sw_cluster_path(&conn, path, &(struct sw_request_opts){ .retries = 1 }, &text, &len,
                             err);
    if (rc == 0)
        rc = sw_json_parse(text, len, NULL, out, err);
    sw_connection_done(&conn);
    return rc;
}

const char *sw_source_charts_dir(const char *flag)
{
    const char *set = getenv("SLIPWAY_CHARTS_DIR");
    return flag ? flag : set && *set ? set : NULL;
}

/* Nobody shall take them for the vendors' charts. */
static void tell_stand_ins(const struct sw_fetcher *f)
{
    SW_AUTO_CHARS *names = NULL;
    for (size_t i = 0; i < sw_fetcher_n_got(f); i++) {
        const struct sw_fetched *got = sw_fetcher_got(f, i);
        if (got->is_stand_in)
            sw_append(&names, "%s%s", names ? ", " : "", got->origin);
    }
    if (names)
        sw_log(SW_LOG_WARN, "stand-ins of the emulator, not the vendors' charts", "charts", names,
               NULL);
}

static void advise_stand_ins(struct sw_err *err)
{
    SW_AUTO_CHARS *why = sw_strdup(sw_err_text(err));
    (void)sw_err_set(err, SW_UNAVAILABLE, "%s; to only try the recipe, --stand-ins", why);
}

bool sw_source_stand_ins(bool flag)
{
    const char *set = getenv("SLIPWAY_STAND_INS");
    return flag || (set && *set && !sw_streq(set, "0"));
}

/* Where the recipes that come with slipway are, in its tree and below share/slipway. */
static const char *const folders[] = { "recipes", "states", "charts/example" };

static char *find_below(const char *top, const char *name)
{
    for (size_t i = 0; i < SW_COUNT(folders); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s/%s", top, folders[i], name);
        SW_AUTO_CHARS *chart = sw_printf("%s/Chart.yaml", path);
        if (access(chart, R_OK) == 0)
            return SW_TAKE(path);
    }
    return NULL;
}

/* What @find gives for @name in the tree of this program, or below its share/slipway; the caller's.
 * NULL: nothing. */
static char *find_installed(char *(*find)(const char *top, const char *name), const char *name)
{
    char top[PATH_MAX];
    const ssize_t len = readlink(SW_SELF, top, sizeof top - 1);
    if (len <= 0)
        return NULL;
    top[len] = '\0';
    char *found = NULL, *slash;
    for (int i = 0; i < 3 && !found && (slash = strrchr(top, '/')); i++) {
        const bool is_build = sw_streq(slash, "/build"); /* or below it, as build/debug */
        *slash = '\0';
        SW_AUTO_CHARS *share = sw_printf("%s/share/slipway", top);
        if (i == 1)
            found = find(share, name);
        if (!found && i && is_build)
            found = find(top, name);
    }
    return found;
}

char *sw_source_installed(const char *name)
{
    if (strchr(name, '/') || !*name || access(name, F_OK) == 0)
        return NULL;
    return find_installed(find_below, name);
}

/* Whether @name begins @recipe, or what stands behind one of its dashes: "mig" that of
 * "nvidia-mig".
 */
static bool begins_word(const char *recipe, const char *name)
{
    bool found = sw_starts_with(recipe, name);
    for (const char *dash = recipe; !found && (dash = strchr(dash, '-'));)
        found = sw_starts_with(++dash, name);
    return found && strlen(name) > 1;
}

/* "a", "a or b", "a, b or c": those of @names, behind @prefix, that @name may mean ("": any); the
 * caller's, NULL: none. */
static char *list_beginning(const char *prefix, const char *name, const char *const *names)
{
    enum { MOST = 16, MOST_BEGINNING = 4 };
    const char *found[MOST];
    size_t n = 0, most = *name ? MOST_BEGINNING : MOST;
    for (; *names && n < most; names++)
        if (!*name || begins_word(*names, name))
            found[n++] = *names;
    char *list = n ? sw_strdup("") : NULL;
    for (size_t i = 0; i < n; i++)
        sw_append(&list, "%s%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", prefix, found[i]);
    return list;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What @name may mean of the recipes in @folder, each name behind @prefix: the nearest one, else
 * those with @name in their own; the caller's, NULL: none. */
static char *near_recipes(const char *folder, const char *prefix, const char *name)
{
    enum { MOST = 256 };
    DIR *dir = opendir(*folder ? folder : "/");
    char **names = sw_zalloc(MOST + 1, sizeof *names);
    size_t n = 0;
    for (struct dirent *entry; dir && n < MOST && (entry = readdir(dir));) {
        SW_AUTO_CHARS *chart = sw_printf("%s/%s/Chart.yaml", folder, entry->d_name);
        if (*entry->d_name != '.' && access(chart, R_OK) == 0)
            names[n++] = sw_strdup(entry->d_name);
    }
    qsort(names, n, sizeof *names, compare_names);
    const char *near = sw_text_nearest(name, (const char *const *)names);
    char *list = near ? sw_printf("%s%s", prefix, near)
                      : list_beginning(prefix, name, (const char *const *)names);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    if (dir)
        (void)closedir(dir);
    return list;
}

/* What @name may mean of the recipes below @top, without their folders; the caller's, NULL: none.
 */
static char *near_below(const char *top, const char *name)
{
    char *list = NULL;
    for (size_t i = 0; i < SW_COUNT(folders) && !list; i++) {
        SW_AUTO_CHARS *folder = sw_printf("%s/%s", top, folders[i]);
        list = near_recipes(folder, "", name);
    }
    return list;
}

/* A name alone may be one of the recipes that come with slipway, and either may be misspelt. */
static char *suggestion(const char *name)
{
    SW_AUTO_CHARS *typed = sw_strndup(name, strlen(name) - sw_ends_with(name, "/"));
    const char *slash = strrchr(typed, '/');
    SW_AUTO_CHARS *own = slash ? sw_strndup(typed, (size_t)(slash - typed)) : NULL;
    char *near = NULL;
    if (!*typed || strstr(typed, "://"))
        return NULL;
    for (size_t i = 0; i < SW_COUNT(folders) && !near; i++) {
        SW_AUTO_CHARS *prefix = sw_printf("%s/", own ? own : folders[i]);
        near = near_recipes(own ? own : folders[i], prefix, slash ? slash + 1 : typed);
    }
    return near || slash ? near : find_installed(near_below, typed);
}

static void suggest_recipe(const char *name, struct sw_err *err)
{
    SW_AUTO_CHARS *near = suggestion(name);
    SW_AUTO_CHARS *why = sw_strdup(sw_err_text(err));
    if (near)
        (void)sw_err_set(err, SW_NOTFOUND, "%s; did you mean %s?", why, near);
}

/* A folder that is no recipe may be one of recipes. */
static void tell_recipes(const char *source, struct sw_err *err)
{
    SW_AUTO_CHARS *folder = sw_strndup(source, sw_before_slashes(source, strlen(source), 1));
    SW_AUTO_CHARS *chart = sw_printf("%s/Chart.yaml", folder), *prefix = sw_printf("%s/", folder);
    SW_AUTO_CHARS *list = access(chart, F_OK) == 0 ? NULL : near_recipes(folder, prefix, "");
    SW_AUTO_CHARS *why = sw_strdup(sw_err_text(err));
    if (list)
        (void)sw_err_set(err, err->code, "%s; did you mean %s?", why, list);
}

/* A fetcher, and who is told what it got. */
struct getting {
    const struct sw_source_flags *flags;
    struct sw_fetcher *fetcher;
    struct json_object *repositories; /* that helm repo add has named; NULL: not read, or none */
    bool are_read;
    struct sw_err unread; /* why they could not be */
};

static struct json_object *repositories_of(struct getting *g)
{
    if (!g->are_read && sw_helm_repositories_read(&g->repositories, &g->unread) < 0)
        g->repositories = NULL; /* told where a name is needed */
    g->are_read = true;
    return g->repositories;
}

/* sw_recipe_opts.repository_url: what is not known is told when it is to be fetched. */
static const char *repository_url(void *arg, const char *name)
{
    return sw_helm_repository_url(repositories_of(arg), name);
}

static int unknown_name(const struct getting *g, const char *repository, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_helm_repositories_path();
    if (g->unread.code)
        return sw_err_set(err, SW_INVALID, "repository %s: %s", repository,
                          sw_err_text(&g->unread));
    return sw_err_set(err, SW_INVALID,
                      "no repository is called %s: helm repo add has put none of that name into %s",
                      repository, path);
}

static int get(void *arg, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
               struct sw_err *err)
{
    struct getting *g = arg;
    const struct sw_source_flags *flags = g->flags;
    struct sw_fetch_auth auth;
    if (sw_repository_name(ask->url))
        return unknown_name(g, ask->url, err);
    bool has_own = !flags->username && !flags->ca_file && !flags->cert_file && !flags->insecure &&
                   sw_starts_with(ask->url, "http") &&
                   sw_helm_repository_auth(repositories_of(g), ask->url, &auth);
    if (has_own)
        sw_fetcher_set_auth(g->fetcher, &auth);
    int rc = sw_fetcher_get(g->fetcher, ask, got, err);
    if (has_own)
        sw_fetcher_set_auth(g->fetcher, NULL);
    if (rc == 0 && g->flags->on_got)
        g->flags->on_got(g->flags->on_got_arg, ask, got);
    return rc;
}

int sw_source_open(const struct sw_source_flags *flags, const char *source,
                   const struct sw_connect_opts *connect, struct sw_recipe **out,
                   struct sw_fetcher **fetcher, struct sw_err *err)
{
    bool with_stand_ins = sw_source_stand_ins(flags->stand_ins || (connect && connect->emulate));
    const struct sw_fetch_opts opts = {
        .auth = { .username = flags->username,
                  .password = flags->password,
                  .pass_credentials = flags->pass_credentials,
                  .plain_http = true, /* his own password, to where he says */
                  .ca_file = flags->ca_file,
                  .cert_file = flags->cert_file,
                  .key_file = flags->key_file,
                  .insecure = flags->insecure,
                  .docker_config = flags->registry_config },
        .cache_dir = flags->cache_dir,
        .charts_dir = sw_source_charts_dir(flags->charts_dir),
        .stand_ins = with_stand_ins ? sw_stand_ins : NULL,
        .mirror = flags->mirror,
        .late = flags->late,
        .timeout_ms = flags->fetch_timeout_ms,
        .verify = flags->verify,
        .keyring = flags->keyring,
        .config_map = get_config_map,
        .config_map_arg = (void *)connect,
    };
    SW_AUTO(sw_fetcher) *f = sw_fetcher_new(&opts);
    struct getting getting = { .flags = flags, .fetcher = f };
    const struct sw_recipe_opts open = { .get = get,
                                         .get_arg = &getting,
                                         .repository_url = repository_url,
                                         .chart = flags->repo ? source : NULL,
                                         .version = flags->version,
                                         .no_lock = flags->no_lock,
                                         .no_charts = flags->no_charts,
                                         .allow_stale_lock = flags->allow_stale_lock,
                                         .aicr_criteria = flags->criteria,
                                         .aicr_data = flags->data,
                                         .of_dependency = flags->of_dependency,
                                         .instead_version = flags->instead_version };
    SW_AUTO_CHARS *installed = flags->repo ? NULL : sw_source_installed(source);
    const char *from = flags->repo ? flags->repo : sw_text_or(installed, source);
    int rc = flags->verify_fetched_only ? sw_recipe_open(from, &open, out, err)
                                        : sw_fetcher_open(f, from, &open, out, err);
    json_object_put(getting.repositories);
    sw_err_done(&getting.unread);
    if (rc == 0)
        tell_stand_ins(f);
    else if (rc == SW_NOTFOUND && !flags->repo)
        suggest_recipe(source, err);
    else if (rc == SW_INVALID && !flags->repo)
        tell_recipes(source, err);
    else if (rc == SW_UNAVAILABLE && !with_stand_ins && !flags->no_stand_ins)
        advise_stand_ins(err);
    if (fetcher)
        *fetcher = SW_TAKE(f);
    return rc;
}

int sw_source_pack(const struct sw_recipe *recipe, const char *dir, char **path, struct sw_err *err)
{
    SW_AUTO_CHARS *bytes = NULL, *name = sw_recipe_archive_name(recipe);
    size_t len;
    *path = sw_printf("%s/%s", dir, name);
    int rc = sw_recipe_pack(recipe, &bytes, &len, err);
    return rc < 0 ? rc : sw_file_write(*path, bytes, len, err);
}
