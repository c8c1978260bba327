/* The child: it reads requests from its socket, and answers each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chart/template/template.h"
#include "operator/renderer/frame.h"
#include "operator/renderer/sandbox.h"

enum { MAX_VERSIONS = 64 << 10, MAX_METADATA_TEXT = 256 << 10, EXIT_BROKEN = 3 };

struct server {
    int fd;
    struct sw_recipe *recipe;
    struct sw_plan *plan;
    struct json_object *words;
};

/* ---- the socket --------------------------------------------------------------------------------
 */

/* The other side is gone: there is nobody to tell. */
static _Noreturn void leave(int code)
{
    _exit(code);
}

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            leave(EXIT_BROKEN);
        bytes += n;
        len -= (size_t)n;
    }
}

static void read_all(int fd, char *bytes, size_t len)
{
    while (len) {
        ssize_t n = read(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            leave(n < 0 ? EXIT_BROKEN : 0);
        bytes += n;
        len -= (size_t)n;
    }
}

static void send_frame(struct server *s, char type, const char *text, size_t len)
{
    char head[FRAME_HEAD];
    frame_head(head, type, len);
    sandbox_writes(true);
    write_all(s->fd, head, sizeof head);
    write_all(s->fd, text, len);
    sandbox_writes(false);
}

static void send_json(struct server *s, char type, struct json_object *doc)
{
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    send_frame(s, type, text, len);
}

/* @*text is the caller's, NUL-terminated. */
static char receive(struct server *s, char **text, size_t *len)
{
    char head[FRAME_HEAD];
    size_t n = 0;
    read_all(s->fd, head, sizeof head);
    for (int i = 0; i < 4; i++)
        n = n << 8 | (unsigned char)head[1 + i];
    if (n > FRAME_MAX)
        leave(EXIT_BROKEN);
    *text = sw_alloc(n + 1);
    read_all(s->fd, *text, n);
    (*text)[n] = '\0';
    *len = n;
    return head[0];
}

static struct json_object *parsed(const char *text, size_t len)
{
    struct json_object *doc = NULL;
    if (sw_json_parse(text, len, NULL, &doc, NULL) < 0)
        leave(EXIT_BROKEN);
    return doc;
}

/* ---- words -------------------------------------------------------------------------------------
 */

static bool is_of_version(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '/' || c == '_';
}

/* Each run of characters in @text that may hold the name of a group version, in lines of @out. */
static void find_versions(const char *text, size_t len, struct json_object *seen,
                          struct sw_buffer *out)
{
    for (size_t i = 0; i < len;) {
        size_t from = i;
        bool has = false;
        for (; i < len && is_of_version(text[i]); i++)
            has |= text[i] == '/' && i + 1 < len && text[i + 1] == 'v';
        if (has) {
            SW_AUTO_CHARS *run = sw_strndup(text + from, i - from);
            if (!sw_json_get(seen, run)) {
                sw_json_set(seen, json_object_new_boolean(true), run, NULL);
                sw_buffer_put(out, run, i - from);
                sw_buffer_char(out, '\n');
            }
        }
        i += i == from;
    }
}

static struct json_object *
texts_found(const struct server *s,
            bool (*has)(const struct server *s, size_t state, const char *word), size_t state)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < sw_json_len(s->words); i++) {
        const char *word = sw_json_str(sw_json_at(s->words, i), "", NULL);
        if (has(s, state, word))
            (void)json_object_array_add(list, json_object_new_string(word));
    }
    return list;
}

static bool recipe_has(const struct server *s, size_t state SW_UNUSED, const char *word)
{
    return sw_recipe_mentions(s->recipe, word);
}

static bool state_has(const struct server *s, size_t state, const char *word)
{
    return sw_plan_state_mentions(s->plan, state, word);
}

static char *versions_found(const struct server *s)
{
    struct sw_buffer b = { 0 };
    SW_AUTO_JSON *seen = json_object_new_object();
    const char *text;
    size_t len;
    for (size_t i = 0; sw_recipe_template_text(s->recipe, i, &text, &len); i++)
        find_versions(text, len, seen, &b);
    if (b.len > MAX_VERSIONS) {
        free(b.text);
        return sw_strdup("*");
    }
    sw_buffer_char(&b, '\0');
    return b.text;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static int add_metadata(const struct server *s, struct json_object *answer, struct sw_err *err)
{
    struct json_object *metadata = (struct json_object *)sw_recipe_metadata(s->recipe);
    size_t len;
    free(sw_json_text(metadata, SW_JSON_PLAIN, &len));
    if (len > MAX_METADATA_TEXT)
        return sw_err_set(err, SW_INVALID, "%s/Chart.yaml: more than %d KiB",
                          sw_recipe_name(s->recipe), MAX_METADATA_TEXT >> 10);
    sw_json_set(answer, sw_json_copy(metadata), "metadata", NULL);
    return 0;
}

static int load(struct server *s, const char *text, size_t len, struct json_object *answer,
                struct sw_err *err)
{
    const char *end = memchr(text, '\n', len);
    size_t head_len = end ? (size_t)(end - text) : len;
    if (head_len == len) /* the request, a new line, the bundle */
        leave(EXIT_BROKEN);
    SW_AUTO_JSON *request = parsed(text, head_len);
    json_object_put(s->words);
    s->words = json_object_get(sw_json_get(request, "words"));
    const char *bundle = text + head_len + 1;
    int rc = sw_recipe_from_bundle(sw_json_str(request, "", "origin", NULL), bundle,
                                   len - head_len - 1, NULL, &s->recipe, err);
    if (rc == 0)
        rc = add_metadata(s, answer, err);
    if (rc < 0)
        return rc;
    char digest[SW_SHA256_HEX];
    const char *wanted = sw_json_str(request, NULL, "file", NULL);
    SW_AUTO_JSON *base = NULL;
    rc = wanted ? recipe_base(s->recipe, wanted, &base, err) : 0;
    if (rc < 0)
        return rc;
    SW_AUTO_CHARS *versions = versions_found(s);
    recipe_digest(s->recipe, digest);
    sw_json_set_str(answer, sw_recipe_name(s->recipe), "name", NULL);
    sw_json_set_str(answer, sw_recipe_version(s->recipe), "version", NULL);
    sw_json_set_str(answer, digest, "digest", NULL);
    sw_json_set(answer, json_object_new_boolean(sandbox_is_filtered()), "filtered", NULL);
    sw_json_set(answer, json_object_new_boolean(sw_recipe_sees_all_versions(s->recipe)),
                "seesAllVersions", NULL);
    sw_json_set(answer, texts_found(s, recipe_has, 0), "words", NULL);
    sw_json_set_str(answer, versions, "versions", NULL);
    if (base)
        sw_json_set(answer, SW_TAKE(base), "base", NULL);
    return 0;
}

/* A sw_recipe_lookup_fn: the controller is asked, and waited for. */
static int ask_lookup(void *arg, const char *api_version, const char *kind, const char *ns,
                      const char *name, struct json_object **out, struct sw_err *err)
{
    struct server *s = arg;
    SW_AUTO_JSON *question = json_object_new_object();
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    sw_json_set_str(question, api_version, "apiVersion", NULL);
    sw_json_set_str(question, kind, "kind", NULL);
    sw_json_set_str(question, ns ? ns : "", "namespace", NULL);
    sw_json_set_str(question, name ? name : "", "name", NULL);
    send_json(s, 'Q', question);
    if (receive(s, &text, &len) != 'O')
        leave(EXIT_BROKEN);
    SW_AUTO_JSON *answer = parsed(text, len);
    int rc = (int)sw_json_int(answer, 0, "code", NULL);
    if (rc < 0)
        return sw_err_set(err, rc, "%s", sw_json_str(answer, "", "error", NULL));
    *out = json_object_get(sw_json_get(answer, "object"));
    return 0;
}

/* What templates see, borrowed from @request; free @apis. */
static struct sw_render_env env_of(struct server *s, struct json_object *request,
                                   const char ***apis)
{
    struct json_object *doc = sw_json_get(request, "env"), *list = sw_json_get(doc, "apiVersions");
    struct sw_render_env env = {
        .release = sw_json_str(doc, NULL, "release", NULL),
        .namespace = sw_json_str(doc, NULL, "namespace", NULL),
        .kube_version = sw_json_str(doc, NULL, "kubeVersion", NULL),
        .revision = sw_json_int(doc, 1, "revision", NULL),
        .is_upgrade = sw_json_bool(doc, false, "isUpgrade", NULL),
        .no_crds = sw_json_bool(doc, false, "noCrds", NULL),
        .add_api_versions = sw_json_bool(doc, false, "addApiVersions", NULL),
        .facts = sw_json_get(doc, "facts"),
        .n_api_versions = sw_json_len(list),
    };
    *apis = sw_alloc((env.n_api_versions + 1) * sizeof **apis);
    for (size_t i = 0; i < env.n_api_versions; i++)
        (*apis)[i] = sw_json_str(sw_json_at(list, i), "", NULL);
    env.api_versions = list ? *apis : NULL;
    if (sw_json_bool(doc, false, "lookups", NULL)) {
        env.lookup = ask_lookup;
        env.lookup_arg = s;
    }
    return env;
}

static void set_text(struct json_object *doc, const char *text, const char *key)
{
    if (text)
        sw_json_set_str(doc, text, key, NULL);
}

/* @digests: of the plan's releases; see release_digest(). */
static struct json_object *state_to_json(const struct server *s, size_t i,
                                         struct json_object *digests)
{
    const struct sw_recipe_state *state = sw_plan_state(s->plan, i);
    struct json_object *doc = json_object_new_object(),
                       *needs = sw_json_need_list(doc, "needs", NULL),
                       *templates = sw_json_need_list(doc, "templates", NULL);
    set_text(doc, state->name, "name");
    set_text(doc, state->chart_name, "chartName");
    set_text(doc, state->label, "label");
    set_text(doc, state->chart, "chart");
    set_text(doc, state->group, "group");
    for (size_t k = 0; k < state->n_needs; k++)
        (void)json_object_array_add(needs, json_object_new_int64((int64_t)state->needs[k]));
    for (size_t k = 0; k < state->n_templates; k++)
        (void)json_object_array_add(templates, json_object_new_string(state->templates[k]));
    sw_json_set(doc, json_object_new_boolean(state->wait_all), "waitAll", NULL);
    sw_json_set(doc, json_object_new_boolean(state->kernel_affine), "kernelAffine", NULL);
    sw_json_set(doc, json_object_new_boolean(state->has_crds), "hasCrds", NULL);
    sw_json_set(doc, texts_found(s, state_has, i), "words", NULL);
    set_text(doc, state->shared_objects, "sharedObjects");
    set_text(doc, state->shared_version, "sharedVersion");
    if (state->release) {
        struct json_object *release = json_object_new_object();
        sw_json_set(doc, release, "release", NULL);
        set_text(release, state->release->name, "name");
        set_text(release, state->release->namespace, "namespace");
        set_text(release, state->release->chart, "chart");
        set_text(release, state->release->shared, "shared");
        set_text(release, state->release->version, "version");
        set_text(release, release_digest(s->plan, state->release->chart, digests), "digest");
    }
    return doc;
}

static int plan(struct server *s, struct json_object *request, const struct sw_render_env *env,
                struct json_object *answer, struct sw_err *err)
{
    SW_AUTO(sw_values) *values = sw_values_new();
    SW_AUTO(sw_plan) *made = NULL;
    struct json_object *set = sw_json_get(request, "set");
    const char *label = sw_json_str(request, NULL, "label", NULL);
    int rc = set ? sw_values_add_json(values, set, err) : 0;
    if (rc < 0)
        return sw_err_wrap(err, rc, "spec.set");
    rc = sw_recipe_plan(s->recipe, values, env, &made, err);
    if (rc == 0 && label)
        rc = plan_check(s->recipe, made, label, err);
    if (rc < 0)
        return rc;
    sw_plan_free(s->plan);
    s->plan = SW_TAKE(made);
    struct json_object *states = sw_json_need_list(answer, "states", NULL);
    SW_AUTO_JSON *digests = json_object_new_object();
    for (size_t i = 0; i < sw_plan_n_states(s->plan); i++)
        (void)json_object_array_add(states, state_to_json(s, i, digests));
    if (sw_json_bool(request, false, "wantValues", NULL))
        sw_json_set(answer, sw_plan_values(s->plan), "values", NULL);
    return 0;
}

static int send_manifest(struct server *s, const struct sw_manifest *m, size_t *total,
                         struct sw_err *err)
{
    SW_AUTO_JSON *doc = json_object_new_object();
    sw_template_place(m->path, (size_t)m->line);
    sw_json_set_str(doc, sw_plan_state(s->plan, m->state)->name, "state", NULL);
    sw_json_set_str(doc, m->path, "path", NULL);
    sw_json_set(doc, json_object_new_int(m->line), "line", NULL);
    sw_json_set(doc, json_object_new_boolean(m->from_crds), "crd", NULL);
    sw_json_set(doc, json_object_new_boolean(m->kernel_affine), "affine", NULL);
    if (m->is_first)
        sw_json_set(doc, json_object_new_boolean(true), "first", NULL);
    sw_json_set(doc, json_object_new_int64(m->hook_events), "events", NULL);
    sw_json_set(doc, json_object_new_int64(m->hook_policies), "policies", NULL);
    sw_json_set(doc, json_object_new_int(m->hook_weight), "weight", NULL);
    sw_json_set(doc, json_object_get(m->doc), "doc", NULL);
    size_t len;
    SW_AUTO_CHARS *text = sw_json_text(doc, SW_JSON_PLAIN, &len);
    *total += len;
    if (len > FRAME_ANSWER_MAX)
        return sw_err_set(err, SW_INVALID, "%s:%d: an object of more than %d MiB", m->path, m->line,
                          FRAME_ANSWER_MAX >> 20);
    if (*total > RENDER_MAX)
        return sw_err_set(err, SW_INVALID,
                          "%s:%d: the objects of this render have more than %d MiB", m->path,
                          m->line, RENDER_MAX >> 20);
    send_frame(s, 'M', text, len);
    return 0;
}

static int render(struct server *s, struct json_object *request, const struct sw_render_env *env,
                  struct sw_err *err)
{
    const char *name = sw_json_str(request, NULL, "state", NULL);
    int state = name ? sw_plan_find_state(s->plan, name) : 0;
    SW_AUTO(sw_rendered) *rendered = NULL;
    size_t total = 0;
    if (state < 0)
        return sw_err_set(err, SW_UNAVAILABLE, "the recipe has no state '%s' any more", name);
    int rc = sw_recipe_render(s->plan, env, name ? (size_t)state : SW_ALL_STATES, &rendered, err);
    for (size_t i = 0; rc == 0 && i < sw_rendered_n_manifests(rendered); i++)
        rc = send_manifest(s, sw_rendered_manifest(rendered, i), &total, err);
    sw_template_place(NULL, 0); /* the names go with what was rendered */
    return rc;
}

static int record(struct server *s, struct json_object *request, const struct sw_render_env *env,
                  struct json_object *answer, struct sw_err *err)
{
    SW_AUTO_CHARS *packed = NULL;
    char content[SW_SHA256_HEX];
    int rc = record_make(s->recipe, s->plan, env, sw_json_str(request, NULL, "chart", NULL),
                         sw_json_get(request, "release"), sw_json_get(request, "runs"), &packed,
                         content, err);
    if (rc < 0)
        return rc;
    if (strlen(packed) > FRAME_ANSWER_MAX / 2)
        return sw_err_set(err, SW_INVALID, "the release is too large to be recorded");
    sw_json_set_str(answer, packed, "packed", NULL);
    sw_json_set_str(answer, content, "content", NULL);
    return 0;
}

static int serve_json(struct server *s, char type, const char *text, size_t len,
                      struct json_object *answer, struct sw_err *err)
{
    SW_AUTO_JSON *request = parsed(text, len);
    const char **apis;
    struct sw_render_env env = env_of(s, request, &apis);
    int rc = 0;
    if (!s->recipe || (type != 'P' && !s->plan))
        leave(EXIT_BROKEN);
    if (type == 'P')
        rc = plan(s, request, &env, answer, err);
    else if (type == 'R')
        rc = render(s, request, &env, err);
    else
        rc = record(s, request, &env, answer, err);
    free(apis);
    return rc;
}

static void serve_one(struct server *s)
{
    SW_AUTO_CHARS *text = NULL;
    size_t len;
    char type = receive(s, &text, &len);
    SW_AUTO_JSON *answer = json_object_new_object();
    SW_ERR(err);
    int rc;
    sandbox_work_begins();
    if (type == 'S') {
        SW_AUTO_JSON *request = parsed(text, len);
        struct json_object *spec = NULL;
        rc = spec_resolve(sw_json_get(request, "spec"), sw_json_get(request, "values"), &spec,
                          &err);
        if (rc == 0)
            sw_json_set(answer, spec, "spec", NULL);
    } else if (type == 'L' && !s->recipe)
        rc = load(s, text, len, answer, &err);
    else if (type == 'P' || type == 'R' || type == 'C')
        rc = serve_json(s, type, text, len, answer, &err);
    else
        leave(EXIT_BROKEN);
    sw_json_set(answer, json_object_new_int(rc), "code", NULL);
    if (rc < 0)
        sw_json_set_str(answer, sw_err_text(&err), "error", NULL);
    send_json(s, 'A', answer);
}

int sw_renderer_serve(int fd, size_t bytes, unsigned cpu_s, unsigned wall_ms)
{
    struct server s = { .fd = fd };
    sandbox_enter(fd, bytes, cpu_s, wall_ms);
    for (;;)
        serve_one(&s); /* ends with the process */
}
