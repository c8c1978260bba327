/* The messages of renderers: what the controller reads of them, and what both sides write. */
#include "operator/renderer/frame.h"

#include <stdlib.h>
#include <string.h>

#include "data/json/large.h"

enum { MAX_STATES = 5000, MAX_TEXT = 4096 };

void frame_head(char head[static FRAME_HEAD], char type, size_t len)
{
    head[0] = type;
    for (int i = 0; i < 4; i++)
        head[1 + i] = (char)(len >> (24 - 8 * i) & 0xff);
}

int frame_read_head(const char head[static FRAME_HEAD], char *type, size_t *len, struct sw_err *err)
{
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        n = n << 8 | (unsigned char)head[1 + i];
    *type = head[0];
    *len = n;
    if (!*type || !strchr(FRAME_TYPES_OF_CHILD, *type) || n > FRAME_ANSWER_MAX)
        return sw_err_set(err, SW_INVALID, "a renderer answers what is no message");
    return 0;
}

/* About what the tree takes, from above: an object without content takes 30 times its text. */
static size_t cost_of(const char *text, size_t len)
{
    size_t bytes = len + SW_SCALAR_BYTES;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '"')
            in_string = !in_string;
        else if (in_string)
            i += c == '\\';
        else
            bytes += c == '{'   ? SW_MAP_BYTES
                     : c == '[' ? SW_LIST_BYTES
                     : c == ':' ? SW_KEY_BYTES
                     : c == ',' ? SW_SCALAR_BYTES
                                : 0;
    }
    return bytes;
}

int frame_parse(const char *text, size_t len, size_t most_bytes, struct json_object **out,
                struct sw_err *err)
{
    if (len > most_bytes || cost_of(text, len) > most_bytes)
        return sw_err_set(err, SW_INVALID, "what is rendered takes more than %zu MiB",
                          most_bytes >> 20);
    struct json_object *doc = NULL;
    SW_ERR(why);
    if (sw_json_parse(text, len, NULL, &doc, &why) < 0 ||
        !json_object_is_type(doc, json_type_object)) {
        json_object_put(doc);
        return sw_err_set(err, SW_INVALID, "a renderer answers what is no message");
    }
    *out = doc;
    return 0;
}

/* ---- answers -----------------------------------------------------------------------------------
 */

int answer_code(struct json_object *answer, struct sw_err *err)
{
    int64_t code = sw_json_int(answer, SW_INVALID, "code", NULL);
    if (code == 0)
        return 0;
    if (code >= 0 || code < SW_CANCELED || code == SW_PENDING)
        code = SW_INVALID;
    return sw_err_set(err, (int)code, "%.*s", MAX_TEXT, sw_json_str(answer, "", "error", NULL));
}

static char *text_of(struct json_object *doc, const char *key)
{
    return sw_strdup(sw_json_str(doc, "", key, NULL));
}

/* A list of words as lines, each with a newline before and after it. */
static char *lines_of(struct json_object *list)
{
    struct sw_buffer b = { 0 };
    sw_buffer_char(&b, '\n');
    for (size_t i = 0; i < sw_json_len(list); i++) {
        const char *word = sw_json_str(sw_json_at(list, i), "", NULL);
        sw_buffer_put(&b, word, strlen(word));
        sw_buffer_char(&b, '\n');
    }
    sw_buffer_char(&b, '\0');
    return b.text;
}

void recipe_view_done(struct sw_recipe_view *view)
{
    free(view->name);
    free(view->version);
    json_object_put(view->base);
    free(view->words);
    free(view->versions);
    json_object_put(view->metadata);
    *view = (struct sw_recipe_view){ 0 };
}

int recipe_view_read(struct json_object *answer, struct sw_recipe_view *out, struct sw_err *err)
{
    struct json_object *metadata = sw_json_get(answer, "metadata"),
                       *base = sw_json_get(answer, "base");
    const char *digest = sw_json_str(answer, "", "digest", NULL);
    *out = (struct sw_recipe_view){
        .name = text_of(answer, "name"),
        .version = text_of(answer, "version"),
        .words = lines_of(sw_json_get(answer, "words")),
        .versions = text_of(answer, "versions"),
        .sees_all_versions = sw_json_bool(answer, true, "seesAllVersions", NULL),
        .metadata = json_object_get(metadata),
        .base = json_object_is_type(base, json_type_object) ? json_object_get(base) : NULL,
    };
    if (!*out->name || !json_object_is_type(metadata, json_type_object) ||
        strlen(digest) != SW_SHA256_HEX - 1 ||
        strspn(digest, "0123456789abcdef") != SW_SHA256_HEX - 1)
        return sw_err_set(err, SW_INVALID, "a renderer answers without a recipe");
    memcpy(out->digest, digest, SW_SHA256_HEX);
    return 0;
}

/* ---- plans -------------------------------------------------------------------------------------
 */

void plan_view_free(struct sw_plan_view *view)
{
    if (!view)
        return;
    for (size_t i = 0; view->words && i < view->n_states; i++)
        free(view->words[i]);
    free(view->words);
    json_object_put(view->values);
    sw_arena_free(view->arena);
    free(view);
}

static const char *kept(struct sw_arena *arena, struct json_object *doc, const char *key)
{
    const char *text = sw_json_str(doc, NULL, key, NULL);
    return text ? sw_arena_strdup(arena, text) : NULL;
}

/* NULL: it has none. One without a name is refused by read_state(). */
static const struct sw_release_of_state *read_release(struct sw_arena *arena,
                                                      struct json_object *doc)
{
    if (!doc)
        return NULL;
    struct sw_release_of_state *release = sw_arena_alloc(arena, sizeof *release);
    *release = (struct sw_release_of_state){
        .name = kept(arena, doc, "name"),
        .namespace = kept(arena, doc, "namespace"),
        .chart = kept(arena, doc, "chart"),
        .shared = kept(arena, doc, "shared"),
        .version = kept(arena, doc, "version"),
    };
    return release;
}

/* @i: the index of the state, which needs only states before it. */
static bool read_state(struct sw_plan_view *view, struct json_object *doc, size_t i)
{
    struct sw_arena *arena = view->arena;
    struct json_object *needs = sw_json_get(doc, "needs"),
                       *templates = sw_json_get(doc, "templates");
    size_t n_needs = sw_json_len(needs), n_templates = sw_json_len(templates);
    if (n_needs > i)
        return false;
    size_t *list = sw_arena_alloc(arena, (n_needs + 1) * sizeof *list);
    const char **paths = sw_arena_alloc(arena, (n_templates + 1) * sizeof *paths);
    for (size_t k = 0; k < n_needs; k++) {
        int64_t need = json_object_get_int64(sw_json_at(needs, k));
        if (need < 0 || (size_t)need >= i || (k && (size_t)need <= list[k - 1]))
            return false;
        list[k] = (size_t)need;
    }
    for (size_t k = 0; k < n_templates; k++)
        paths[k] = sw_arena_strdup(arena, sw_json_str(sw_json_at(templates, k), "", NULL));
    view->states[i] = (struct sw_recipe_state){
        .name = kept(arena, doc, "name"),
        .chart_name = kept(arena, doc, "chartName"),
        .label = kept(arena, doc, "label"),
        .chart = kept(arena, doc, "chart"),
        .group = kept(arena, doc, "group"),
        .needs = list,
        .n_needs = n_needs,
        .templates = paths,
        .n_templates = n_templates,
        .wait_all = sw_json_bool(doc, false, "waitAll", NULL),
        .kernel_affine = sw_json_bool(doc, false, "kernelAffine", NULL),
        .has_crds = sw_json_bool(doc, false, "hasCrds", NULL),
        .release = read_release(arena, sw_json_get(doc, "release")),
        .shared_objects = kept(arena, doc, "sharedObjects"),
        .shared_version = kept(arena, doc, "sharedVersion"),
    };
    view->digests[i] = kept(arena, sw_json_get(doc, "release"), "digest");
    view->words[i] = lines_of(sw_json_get(doc, "words"));
    const struct sw_recipe_state *s = &view->states[i];
    bool is_release = !s->release || (s->release->name && s->release->chart);
    return s->name && *s->name && s->chart && is_release;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_differ(const struct sw_plan_view *view)
{
    const char **names = sw_alloc((view->n_states + 1) * sizeof *names);
    bool differ = true;
    for (size_t i = 0; i < view->n_states; i++)
        names[i] = view->states[i].name;
    qsort(names, view->n_states, sizeof *names, by_name);
    for (size_t i = 1; i < view->n_states; i++)
        differ = differ && !sw_streq(names[i - 1], names[i]);
    free(names);
    return differ;
}

int plan_view_read(struct json_object *answer, struct sw_plan_view **out, struct sw_err *err)
{
    struct json_object *states = sw_json_get(answer, "states");
    struct sw_plan_view *view = sw_zalloc(1, sizeof *view);
    size_t n = sw_json_len(states);
    bool ok = n <= MAX_STATES && json_object_is_type(states, json_type_array);
    view->arena = sw_arena_new();
    if (ok) {
        view->n_states = n;
        view->states = sw_arena_alloc(view->arena, (n + 1) * sizeof *view->states);
        view->words = sw_zalloc(n + 1, sizeof *view->words);
        view->digests = sw_arena_alloc(view->arena, (n + 1) * sizeof *view->digests);
    }
    for (size_t i = 0; i < n && ok; i++)
        ok = read_state(view, sw_json_at(states, i), i);
    if (!ok || !names_differ(view)) {
        plan_view_free(view);
        return sw_err_set(err, SW_INVALID,
                          n > MAX_STATES ? "the recipe has more than %d states"
                                         : "a renderer answers without a plan",
                          MAX_STATES);
    }
    view->values = json_object_get(sw_json_get(answer, "values"));
    *out = view;
    return 0;
}

struct sw_plan_view *plan_view_of(const struct sw_plan *plan)
{
    struct sw_plan_view *view = sw_zalloc(1, sizeof *view);
    view->plan = plan;
    view->arena = sw_arena_new();
    view->n_states = sw_plan_n_states(plan);
    view->states = sw_arena_alloc(view->arena, (view->n_states + 1) * sizeof *view->states);
    view->digests = sw_arena_alloc(view->arena, (view->n_states + 1) * sizeof *view->digests);
    SW_AUTO_JSON *known = json_object_new_object();
    for (size_t i = 0; i < view->n_states; i++) {
        view->states[i] = *sw_plan_state(plan, i);
        const struct sw_release_of_state *release = view->states[i].release;
        view->digests[i] = release ? sw_arena_strdup(view->arena,
                                                     release_digest(plan, release->chart, known))
                                   : NULL;
    }
    return view;
}

/* ---- manifests ---------------------------------------------------------------------------------
 */

int manifest_take(struct json_object *message, const struct sw_plan_view *plan,
                  struct sw_rendered *rendered, struct sw_err *err)
{
    struct json_object *doc = sw_json_get(message, "doc");
    int state = sw_plan_view_find(plan, sw_json_str(message, "", "state", NULL));
    if (!json_object_is_type(doc, json_type_object) || !*sw_obj_kind(doc) ||
        !*sw_obj_api_version(doc) || state < 0)
        return sw_err_set(err, SW_INVALID, "a renderer answers without a manifest");
    const struct sw_release_of_state *release = plan->states[state].release;
    sw_rendered_add(rendered,
                    &(struct sw_manifest){
                        .doc = doc,
                        .path = sw_json_str(message, "", "path", NULL),
                        .line = (int)sw_json_int(message, 0, "line", NULL),
                        .state = (size_t)state,
                        .namespace = release ? release->namespace : NULL,
                        .release = release,
                        .is_first = sw_json_bool(message, false, "first", NULL),
                        .from_crds = sw_json_bool(message, false, "crd", NULL),
                        .kernel_affine = sw_json_bool(message, false, "affine", NULL),
                        .hook_events = (unsigned)sw_json_int(message, 0, "events", NULL),
                        .hook_policies = (unsigned)sw_json_int(message, 0, "policies", NULL),
                        .hook_weight = (int)sw_json_int(message, 0, "weight", NULL),
                    });
    return 0;
}

/* ---- views -------------------------------------------------------------------------------------
 */

static bool has_line(const char *lines, const char *word)
{
    SW_AUTO_CHARS *line = sw_printf("\n%s\n", word);
    return strstr(lines, line);
}

/* What templates are not searched for is taken to be there. */
bool sw_recipe_view_mentions(const struct sw_recipe_view *recipe, const char *word)
{
    if (recipe->loaded)
        return sw_recipe_mentions(recipe->loaded, word);
    return has_line(recipe->words, word) || sw_streq(recipe->versions, "*") ||
           (strstr(word, "/v") && strstr(recipe->versions, word));
}

bool sw_plan_view_mentions(const struct sw_plan_view *plan, size_t state, const char *word)
{
    return plan->plan ? sw_plan_state_mentions(plan->plan, state, word)
                      : has_line(plan->words[state], word);
}

int sw_plan_view_find(const struct sw_plan_view *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_states; i++)
        if (sw_streq(plan->states[i].name, name))
            return (int)i;
    return -1;
}

/* ---- what templates see ------------------------------------------------------------------------
 */

struct json_object *env_to_json(const struct sw_render_env *env)
{
    struct json_object *doc = json_object_new_object();
    if (env->release)
        sw_json_set_str(doc, env->release, "release", NULL);
    if (env->namespace)
        sw_json_set_str(doc, env->namespace, "namespace", NULL);
    if (env->kube_version)
        sw_json_set_str(doc, env->kube_version, "kubeVersion", NULL);
    sw_json_set(doc, json_object_new_int64(env->revision), "revision", NULL);
    sw_json_set(doc, json_object_new_boolean(env->is_upgrade), "isUpgrade", NULL);
    sw_json_set(doc, json_object_new_boolean(env->no_crds), "noCrds", NULL);
    sw_json_set(doc, json_object_new_boolean(env->lookup != NULL), "lookups", NULL);
    if (env->facts)
        sw_json_set(doc, json_object_get((struct json_object *)env->facts), "facts", NULL);
    if (env->api_versions) {
        struct json_object *list = sw_json_need_list(doc, "apiVersions", NULL);
        for (size_t i = 0; i < env->n_api_versions; i++)
            (void)json_object_array_add(list, json_object_new_string(env->api_versions[i]));
        sw_json_set(doc, json_object_new_boolean(env->add_api_versions), "addApiVersions", NULL);
    }
    return doc;
}
