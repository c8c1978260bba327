#include "chart/fetch/helper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folders.h"
#include "chart/fetch/common/cache.h"
#include "chart/fetch/confine.h"
#include "chart/fetch/fetch.h"
#include "chart/fetch/image.h"
#include "chart/fetch/reach/reach.h"
#include "chart/registry/lookup.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"

enum { REQUEST_MAX = 32 << 20, FILE_MAX = 300 << 20 };

/* One request. */
struct work {
    struct json_object *request;
    const struct sw_embedded *stand_ins;
    char *missing; /* URL of a ConfigMap that is not in it; NULL: none; owned */
    struct sw_fetcher *fetcher;
    struct sw_folders *folders; /* in which files may be read; NULL: in all; owned */
    bool is_remote;             /* a part came from elsewhere: neither a file nor a ConfigMap */
    char *host;                 /* of the URL that was asked for last; NULL: none; owned */
};

static const char *text_of(struct json_object *request, const char *key)
{
    return sw_text_or(sw_json_str(request, NULL, key, NULL), NULL);
}

static int find_config_map(void *arg, const char *ns, const char *name, struct json_object **out,
                           struct sw_err *err)
{
    struct work *w = arg;
    struct json_object *maps = sw_json_get(w->request, "configMaps");
    for (size_t i = 0; i < sw_json_len(maps); i++) {
        struct json_object *map = sw_json_at(maps, i);
        if (!sw_streq(sw_obj_namespace(map), ns) || !sw_streq(sw_obj_name(map), name))
            continue;
        if (sw_json_bool(map, false, "missing", NULL))
            return sw_err_set(err, SW_NOTFOUND, "there is no such ConfigMap");
        *out = json_object_get(map);
        return 0;
    }
    free(w->missing);
    w->missing = sw_printf("cm://%s/%s", ns, name);
    return sw_err_set(err, SW_PENDING, "%s is needed", w->missing);
}

/* ---- what may be reached -----------------------------------------------------------------------
 */

/* What a chart from elsewhere depends on its author did not write, but somebody else. */
static bool is_written(const struct sw_recipe_ask *ask)
{
    return !ask->base || sw_starts_with(ask->base, "cm://") ||
           sw_starts_with(ask->base, "file://") || !strstr(ask->base, "://");
}

static void note_asked(struct work *w, const struct sw_recipe_ask *ask)
{
    struct sw_reach *reach = sw_reach_enforced();
    free(w->host);
    w->host = strstr(ask->url, "://") ? sw_reach_place(ask->url) : sw_strdup("");
    if (reach && is_written(ask))
        sw_reach_add_written(reach, w->host);
}

/* From here on this process reaches nothing else. */
static int limit_reach(struct json_object *request, struct sw_err *err)
{
    struct json_object *cluster = sw_json_get(request, "clusterRanges");
    const char *list = sw_json_str(request, NULL, "allowedSources", NULL);
    SW_AUTO(sw_reach) *reach = NULL;
    int rc = list ? sw_reach_new(list, &reach, err) : 0;
    if (rc < 0 || !list)
        return rc;
    for (size_t i = 0; i < sw_json_len(cluster); i++) {
        struct sw_range range;
        if (sw_range_parse(sw_json_str(sw_json_at(cluster, i), "", NULL), &range))
            sw_reach_add_cluster(reach, &range);
    }
    sw_reach_enforce(SW_TAKE(reach));
    return 0;
}

/* A sw_recipe_get_fn. */
static int get_chart(void *arg, const struct sw_recipe_ask *ask, struct sw_recipe_got *got,
                     struct sw_err *err)
{
    struct work *w = arg;
    note_asked(w, ask);
    int rc = sw_fetcher_get(w->fetcher, ask, got, err);
    if (rc < 0)
        return rc;
    bool is_missing = sw_fetcher_got(w->fetcher, sw_fetcher_n_got(w->fetcher) - 1)->is_missing;
    w->is_remote |= !is_missing && !sw_starts_with(ask->url, "file://") &&
                    !sw_starts_with(ask->url, "cm://");
    return 0;
}

/* Fetch what the request names. @*bundle: the recipe, the caller's. */
static int get(struct work *w, struct json_object *answer, char **bundle, size_t *len,
               struct sw_err *err)
{
    struct json_object *r = w->request;
    const struct sw_fetch_opts opts = {
        .auth = { .username = text_of(r, "username"),
                  .password = text_of(r, "password"),
                  .url = sw_json_str(r, "", "credentialsFor", NULL),
                  .secret = text_of(r, "secret"),
                  .pass_credentials = sw_json_bool(r, false, "passCredentials", NULL),
                  .plain_http = sw_json_bool(r, false, "plainHTTP", NULL),
                  .ca_file = text_of(r, "caFile"),
                  .cert_file = text_of(r, "certFile"),
                  .key_file = text_of(r, "keyFile"),
                  .insecure = sw_json_bool(r, false, "insecure", NULL),
                  .only_given = w->folders,
                  .docker_config = text_of(r, "dockerConfig"),
                  .known_hosts = text_of(r, "knownHosts") },
        .cache_dir = sw_json_str(r, NULL, "cacheDir", NULL),
        .cache_scope = text_of(r, "cacheScope"),
        .charts_dir = text_of(r, "chartsDir"),
        .stand_ins = sw_json_bool(r, false, "standIns", NULL) ? w->stand_ins : NULL,
        .mirror = text_of(r, "mirror"),
        .late = true,
        .timeout_ms = sw_json_int(r, 0, "timeoutMs", NULL),
        .folders = w->folders,
        .verify = text_of(r, "verifiedBy"),
        .asked_by = text_of(r, "verifiedBy"),
        .keyring = text_of(r, "keyring"),
        .config_map = find_config_map,
        .config_map_arg = w,
    };
    SW_AUTO(sw_fetcher) *f = sw_fetcher_new(&opts);
    SW_AUTO(sw_recipe) *recipe = NULL;
    w->fetcher = f;
    const struct sw_recipe_opts open = { .get = get_chart,
                                         .get_arg = w,
                                         .folders = w->folders,
                                         .chart = text_of(r, "name"),
                                         .version = text_of(r, "version"),
                                         .aicr_criteria = text_of(r, "aicrCriteria"),
                                         .aicr_data = text_of(r, "aicrData") };
    int rc = sw_fetcher_open(f, sw_json_str(r, "", "url", NULL), &open, &recipe, err);
    if (rc == 0)
        rc = sw_recipe_to_bundle(recipe, bundle, len, err);
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *digest = sw_digest_of(*bundle, *len);
    sw_json_set_str(answer, sw_recipe_name(recipe), "name", NULL);
    sw_json_set_str(answer, sw_recipe_version(recipe), "version", NULL);
    sw_json_set_str(answer, sw_recipe_origin(recipe), "origin", NULL);
    sw_json_set_str(answer, digest, "digest", NULL);
    for (size_t i = 0; i < sw_fetcher_n_got(f); i++)
        if (sw_fetcher_got(f, i)->is_missing)
            sw_json_set(answer, json_object_new_boolean(true), "missing", NULL);
    if (w->is_remote)
        sw_json_set(answer, json_object_new_boolean(true), "remote", NULL);
    return 0;
}

/* Of a file that the request names, in the folders that it allows, libraries read a copy: it
 * becomes the data. */
static int read_allowed(struct work *w, const char *data, const char *file, struct sw_err *err)
{
    enum { MAX_BYTES = 4 << 20 };
    const char *path = text_of(w->request, file);
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    if (!path || !w->folders || text_of(w->request, data))
        return 0;
    int rc = sw_folders_read(w->folders, path, MAX_BYTES, &text, &len, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "%s", file);
    sw_json_set_str(w->request, text, data, NULL);
    return 0;
}

/* Libraries read files: "caData" is written to one, whose path becomes "caFile". */
static int write_files(struct work *w, char **dir, struct sw_err *err)
{
    struct json_object *request = w->request;
    static const struct {
        const char *data, *file;
        bool is_base64;
    } rows[] = { { "caData", "caFile", false },
                 { "certData", "certFile", false },
                 { "keyData", "keyFile", false },
                 { "dockerConfigData", "dockerConfig", false },
                 { "knownHostsData", "knownHosts", false },
                 { "keyringData", "keyring", true } };
    struct sw_cache *none = sw_cache_new(NULL, NULL, 0);
    int rc = 0;
    for (size_t i = 0; i < SW_COUNT(rows) && rc == 0; i++) {
        rc = read_allowed(w, rows[i].data, rows[i].file, err);
        const char *text = text_of(request, rows[i].data);
        if (!text || rc < 0)
            continue;
        rc = *dir ? 0 : sw_cache_temp(none, dir, err);
        SW_AUTO_CHARS *path = sw_printf("%s/%s", *dir ? *dir : "", rows[i].data);
        size_t len = strlen(text);
        SW_AUTO_CHARS *bytes = rows[i].is_base64 ? sw_base64_decode(text, len, &len) : NULL;
        if (rc == 0 && rows[i].is_base64 && !bytes)
            rc = sw_err_set(err, SW_INVALID, "%s: no base64", rows[i].data);
        if (rc == 0)
            rc = sw_file_write(path, bytes ? bytes : text, len, err);
        if (rc == 0)
            sw_json_set_str(request, path, rows[i].file, NULL);
    }
    sw_cache_free(none);
    return rc;
}

/* "lookup": not a recipe is asked for, but an image. */
static void ask_registry(struct json_object *request, struct json_object **answer, char **bytes,
                         size_t *len)
{
    struct json_object *lookup = sw_json_get(request, "lookup");
    SW_ERR(err);
    int rc = limit_reach(request, &err);
    if (rc < 0) {
        *answer = sw_registry_lookup_failure(rc, sw_err_text(&err));
        return;
    }
    fetch_image(lookup, answer, bytes, len);
    struct json_object *images = sw_json_get(lookup, "images"),
                       *first = sw_json_at(sw_json_get(*answer, "answers"), 0);
    if (sw_json_int(*answer, 0, "code", NULL) != 0)
        free(SW_TAKE(*bytes));
    if (sw_json_int(first ? first : *answer, 0, "code", NULL) == 0 || !sw_reach_refused() ||
        sw_json_len(images) != 1)
        return;
    SW_AUTO_CHARS *why = sw_printf("%s: address not allowed",
                                   sw_json_str(sw_json_at(images, 0), "", "reference", NULL));
    json_object_put(*answer); /* nothing of what is there */
    *answer = sw_registry_lookup_failure(SW_INVALID, why);
    free(SW_TAKE(*bytes));
}

void sw_fetch_do(struct json_object *request, const struct sw_embedded *stand_ins,
                 struct json_object **answer, char **bundle, size_t *len)
{
    if (sw_json_get(request, "lookup")) {
        *bundle = NULL;
        ask_registry(request, answer, bundle, len);
        return;
    }
    struct work w = { .request = request, .stand_ins = stand_ins };
    SW_AUTO_CHARS *dir = NULL;
    SW_ERR(err);
    *answer = json_object_new_object();
    *bundle = NULL;
    const char *allowed = sw_json_str(request, NULL, "allowedFiles", NULL);
    int rc = limit_reach(request, &err);
    if (rc == 0 && allowed)
        rc = sw_folders_new(allowed, &w.folders, &err);
    if (rc == 0)
        rc = write_files(&w, &dir, &err);
    if (rc == 0)
        rc = get(&w, *answer, bundle, len, &err);
    if (dir)
        sw_cache_remove(dir);
    if (rc < 0 && sw_reach_refused()) /* nothing of what is there */
        rc = sw_err_set(&err, SW_INVALID, "%s: address not allowed", w.host ? w.host : "");
    (void)json_object_object_add(*answer, "code", json_object_new_int(rc));
    if (rc == SW_PENDING && w.missing)
        sw_json_set_str(*answer, w.missing, "want", NULL);
    else if (rc < 0)
        sw_json_set_str(*answer, sw_err_text(&err), "error", NULL);
    free(w.missing);
    sw_folders_free(w.folders);
    free(w.host);
}

/* ---- its limits --------------------------------------------------------------------------------
 */

static size_t limit_bytes; /* of this process; 0: none */
static const char *limited = "recipe";

static _Noreturn void say_too_large(void)
{
    char line[128];
    int len = snprintf(
        line, sizeof line,
        "{\"code\":%d,\"limit\":true,\"error\":\"the %s takes more than the %zu MiB that a "
        "fetch may have\"}\n",
        SW_INVALID, limited, limit_bytes >> 20);
    _exit(write(STDOUT_FILENO, line, (size_t)len) == len ? 0 : 1);
}

/* "limits": this process works for somebody whom its caller does not trust. */
static void confine(struct json_object *request)
{
    struct json_object *limits = sw_json_get(request, "limits");
    if (!limits)
        return;
    SW_AUTO_CHARS *usual = sw_fetch_cache_dir();
    struct sw_cache *cache = sw_cache_new(sw_json_str(request, usual, "cacheDir", NULL), NULL, 0);
    const char *tmp = getenv("TMPDIR"), *dir = sw_cache_dir(cache);
    limit_bytes = (size_t)sw_json_int(limits, 0, "bytes", NULL);
    limited = sw_json_get(request, "lookup") ? "image" : limited;
    sw_confine(&(struct sw_confine_opts){
        .bytes = limit_bytes,
        .cpu_s = (unsigned)sw_json_int(limits, 0, "cpuS", NULL),
        .file_bytes = FILE_MAX,
        .may_run_programs = *sw_json_str(request, "", "verifiedBy", NULL),
        .dirs = { sw_text_or(tmp, "/tmp"), dir },
        .out_of_memory = say_too_large,
    });
    sw_cache_free(cache);
}

/* ---- over pipes --------------------------------------------------------------------------------
 */

int sw_fetch_serve(FILE *in, FILE *out, const struct sw_embedded *stand_ins, struct sw_err *err)
{
    SW_AUTO_JSON *request = NULL, *answer = NULL;
    SW_AUTO_CHARS *bundle = NULL;
    size_t cap = 64 << 10, len = 0, bundle_len = 0, n;
    SW_AUTO_CHARS *text = sw_alloc(cap);
    while ((n = fread(text + len, 1, cap - len, in)) > 0) {
        len += n;
        if (len > REQUEST_MAX)
            return sw_err_set(err, SW_INVALID, "a request of more than %d bytes", REQUEST_MAX);
        if (len == cap)
            text = sw_realloc(text, cap *= 2, 1);
    }
    int rc = sw_json_parse(text, len, &(struct sw_json_opts){ .file = "stdin" }, &request, err);
    if (rc < 0)
        return rc;
    if (!json_object_is_type(request, json_type_object))
        return sw_err_set(err, SW_INVALID, "stdin: expected a JSON object");
    confine(request);
    sw_fetch_do(request, stand_ins, &answer, &bundle, &bundle_len);
    SW_AUTO_CHARS *line = sw_json_text(answer, SW_JSON_PLAIN, NULL);
    bool ok = fprintf(out, "%s\n", line) > 0 &&
              (!bundle || fwrite(bundle, 1, bundle_len, out) == bundle_len);
    return ok && fflush(out) == 0 ? 0
                                  : sw_err_set(err, SW_UNAVAILABLE, "the answer cannot be written");
}

int sw_fetch_read_answer(const char *text, size_t len, struct json_object **answer,
                         const char **bundle, size_t *bundle_len, struct sw_err *err)
{
    const char *end = memchr(text, '\n', len);
    SW_AUTO_JSON *line = NULL;
    SW_ERR(why);
    if (!end || sw_json_parse(text, (size_t)(end - text), NULL, &line, &why) < 0 ||
        !json_object_is_type(line, json_type_object))
        return sw_err_set(err, SW_UNAVAILABLE, "the fetch helper failed");
    *answer = SW_TAKE(line);
    *bundle = end + 1;
    *bundle_len = len - (size_t)(end + 1 - text);
    return 0;
}
