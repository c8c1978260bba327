/* Renderers: the same in a child process and in this one; a child that dies, hangs, answers what is
 * no message or takes too much harms nobody else. */
#include "operator/renderer/renderer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/kept.h"
#include "base/loop.h"
#include "data/data.h"

static const char *const words[] = { "pushSecretName", ".Release.Is", "absent", NULL };

struct scene {
    struct sw_loop *loop;
    struct sw_renderers *all;
    struct sw_renderer *r;
    struct sw_render_wait *wait;
    struct sw_render_env env;
    struct json_object *facts;
    bool answered;
    int lookups; /* asked for */
    bool found;  /* the object of the lookup is there */
};

static void on_answered(void *arg)
{
    ((struct scene *)arg)->answered = true;
}

static struct sw_renderer *recipe_of(struct sw_renderers *all, const char *const (*files)[2],
                                     size_t n)
{
    struct sw_recipe_file list[16];
    SW_AUTO(sw_recipe) *recipe = NULL;
    SW_AUTO_CHARS *bundle = NULL;
    size_t len;
    SW_ERR(err);
    for (size_t i = 0; i < n; i++)
        list[i] = (struct sw_recipe_file){ files[i][0], files[i][1], strlen(files[i][1]) };
    if (sw_recipe_from_files("test", list, n, NULL, &recipe, &err) < 0 ||
        sw_recipe_to_bundle(recipe, &bundle, &len, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    return sw_renderer_new(all, "test", sw_kept_new(bundle, len));
}

static void open_with(struct scene *s, const struct sw_renderers_opts *opts,
                      const char *const (*files)[2], size_t n)
{
    struct sw_renderers_opts o = *opts;
    *s = (struct scene){ .loop = sw_loop_new(NULL) };
    sw_log_set_level(SW_LOG_ERROR);
    o.words = words;
    s->all = sw_renderers_new(s->loop, &o);
    s->r = recipe_of(s->all, files, n);
    s->wait = sw_render_wait_new(on_answered, s);
    s->env = (struct sw_render_env){ .release = "name", .namespace = "ns", .revision = 1 };
}

static void close_scene(struct scene *s)
{
    sw_render_wait_free(s->wait);
    sw_renderer_free(s->r);
    sw_renderers_free(s->all);
    json_object_put(s->facts);
    sw_loop_free(s->loop);
}

static void wait_answer(struct scene *s)
{
    int64_t end_ms = sw_loop_now_ms(s->loop) + 60000;
    while (!s->answered && sw_loop_now_ms(s->loop) < end_ms)
        sw_loop_step(s->loop, 1000);
    assert_true(s->answered);
    s->answered = false;
}

/* The result of CALL, when it is there. */
#define DONE(s, call)                                                                              \
    ({                                                                                             \
        int rc_;                                                                                   \
        while ((rc_ = (call)) == SW_PENDING)                                                       \
            wait_answer(s);                                                                        \
        rc_;                                                                                       \
    })

static int load(struct scene *s, struct sw_err *err)
{
    const struct sw_recipe_view *view;
    return DONE(s, sw_renderer_load(s->r, s->wait, "test.yaml", &view, err));
}

static int plan(struct scene *s, struct sw_err *err)
{
    const struct sw_plan_view *view;
    SW_AUTO_JSON *set = json_object_new_object();
    sw_json_set_str(set, "given", "text", NULL);
    int rc = load(s, err);
    return rc < 0
               ? rc
               : DONE(s, sw_renderer_plan(s->r, s->wait, set, &s->env, "test", true, &view, err));
}

static int render(struct scene *s, size_t state, struct sw_rendered **out, struct sw_err *err)
{
    return DONE(s, sw_renderer_render(s->r, s->wait, &s->env, state, out, err));
}

static const char *program(void)
{
    const char *path = getenv("SLIPWAY");
    return path && *path ? path : "build/slipway";
}

/* Limits of memory are tested on the program without sanitizers. */
static const char *release(void)
{
    const char *path = getenv("SLIPWAY_RELEASE");
    return path && *path ? path : "build/slipway";
}

/* The pid of the one child of this process; 0: there is none. */
static pid_t child_pid(void)
{
    SW_AUTO_CHARS *path = sw_printf("/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "r");
    int pid = 0;
    if (f && fscanf(f, "%d", &pid) != 1)
        pid = 0;
    if (f)
        (void)fclose(f);
    return pid;
}

/* ---- the same in both ---------------------------------------------------------------------------
 */

#define CM(name, text)                                                                             \
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name "}\ndata: {text: " text "}\n"
static const char *const recipe[][2] = {
    { "Chart.yaml", "apiVersion: v2\nname: test\nversion: 1.2.3\n" },
    { "values.yaml", "text: mine\nmore: [1, 2.50, null]\n" },
    { "test.yaml", "apiVersion: sro.openshift.io/v1beta1\nkind: SpecialResource\n"
                   "metadata: {name: test}\n" },
    { "crds/a.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
                     "metadata: {name: as.x.io}\n" },
    { "templates/0000-a.yaml", "# pushSecretName\n" CM("one", "{{ .Values.text }}") "---\n" CM(
                                   "two", "{{ (.Values.facts | default dict).kernel }}") },
    { "templates/1000-b.yaml",
      "apiVersion: apps.example.com/v1beta2\nkind: Thing\nmetadata:\n  name: hook\n  annotations:\n"
      "    helm.sh/hook: pre-install\n    helm.sh/hook-weight: '-3'\n"
      "    specialresource.openshift.io/kernel-affine: 'true'\n"
      "n: {{ index .Values.more 1 }}\nkube: {{ .Capabilities.KubeVersion }}\n"
      "has: {{ .Capabilities.APIVersions.Has \"x.io/v1\" }}\n" },
};

/* All that a controller sees, as text. */
static char *everything(struct scene *s)
{
    struct json_object *facts = s->facts = json_object_new_object();
    static const char *const apis[] = { "v1", "x.io/v1" };
    sw_json_set_str(facts, "6.1", "facts", "kernel", NULL);
    s->env.facts = facts;
    s->env.kube_version = "v1.29.4";
    s->env.api_versions = apis;
    s->env.n_api_versions = 2;
    SW_ERR(err);
    if (plan(s, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    const struct sw_recipe_view *r = sw_renderer_recipe(s->r);
    const struct sw_plan_view *p = sw_renderer_plan_view(s->r);
    SW_AUTO_CHARS *metadata = sw_json_text(r->metadata, SW_JSON_SORTED, NULL);
    SW_AUTO_CHARS *base = sw_json_text(r->base, SW_JSON_SORTED, NULL);
    SW_AUTO_CHARS *values = sw_json_text(p->values, SW_JSON_SORTED, NULL);
    char *text = sw_printf("%s %s %s %s %s\n%s\n", r->name, r->version, r->digest, metadata, base,
                           values);
    for (const char *const *w = words; *w; w++)
        sw_append(&text, "%s %d %d\n", *w, sw_recipe_view_mentions(r, *w),
                  sw_plan_view_mentions(p, 0, *w));
    sw_append(&text, "%d %d\n", sw_recipe_view_mentions(r, "apps.example.com/v1beta2"),
              sw_recipe_view_mentions(r, "apps/v1"));
    for (size_t i = 0; i < p->n_states; i++) {
        const struct sw_recipe_state *state = &p->states[i];
        sw_append(&text, "%s %s %s %s %d%d%d", state->name, state->label, state->chart,
                  state->group ? state->group : "-", state->wait_all, state->kernel_affine,
                  state->has_crds);
        for (size_t k = 0; k < state->n_needs; k++)
            sw_append(&text, " %zu", state->needs[k]);
        for (size_t k = 0; k < state->n_templates; k++)
            sw_append(&text, " %s", state->templates[k]);
        sw_append(&text, "\n");
    }
    for (size_t i = 0; i <= p->n_states; i++) {
        SW_AUTO(sw_rendered) *rendered = NULL;
        if (render(s, i < p->n_states ? i : SW_ALL_STATES, &rendered, &err) < 0)
            fail_msg("%s", sw_err_text(&err));
        for (size_t k = 0; k < sw_rendered_n_manifests(rendered); k++) {
            const struct sw_manifest *m = sw_rendered_manifest(rendered, k);
            SW_AUTO_CHARS *doc = sw_json_text(m->doc, SW_JSON_SORTED, NULL);
            sw_append(&text, "%s:%d %zu %d%d %x %x %d %s\n", m->path, m->line, m->state,
                      m->from_crds, m->kernel_affine, m->hook_events, m->hook_policies,
                      m->hook_weight, doc);
        }
    }
    SW_AUTO_JSON *record = json_object_new_object();
    SW_AUTO_CHARS *packed = NULL;
    char content[SW_SHA256_HEX];
    sw_json_set_str(record, "name", "name", NULL);
    if (DONE(s, sw_renderer_record(s->r, s->wait, &s->env, NULL, record, NULL, &packed, content,
                                   &err)) < 0)
        fail_msg("%s", sw_err_text(&err));
    sw_append(&text, "%s %s\n", packed, content);
    return text;
}

static void test_same(void **state SW_UNUSED)
{
    struct scene here, child;
    open_with(&here, &(struct sw_renderers_opts){ 0 }, recipe, SW_COUNT(recipe));
    open_with(&child, &(struct sw_renderers_opts){ .program = program() }, recipe,
              SW_COUNT(recipe));
    SW_AUTO_CHARS *a = everything(&here), *b = everything(&child);
    assert_string_equal(a, b);
    assert_non_null(strstr(a, "\"text\":6.1"));
    assert_int_equal(sw_renderers_stats(here.all).n_started, 0);
    assert_int_equal(sw_renderers_stats(child.all).n_started, 1); /* kept warm */
    close_scene(&here);
    close_scene(&child);
    assert_int_equal(child_pid(), 0);
}

/* Manifests that are too large to be kept as trees are the same, in whatever order they are read.
 */
static void test_large(void **state SW_UNUSED)
{
    struct scene here, child;
    struct sw_rendered *a = NULL, *b = NULL;
    SW_ERR(err);
    SW_AUTO_CHARS *text = sw_strdup("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\n"
                                    "data:\n");
    for (int i = 0; i < 5000; i++)
        sw_append(&text, "  key%d: the %d-th of many values\n", i, i);
    const char *const files[][2] = {
        { "Chart.yaml", "apiVersion: v2\nname: test\nversion: 1.0.0\n" },
        { "templates/1000-a.yaml", text },
        { "templates/1000-b.yaml",
          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: small}\ndata: {a: b}\n" },
        { "templates/1000-c.yaml", text },
    };
    open_with(&here, &(struct sw_renderers_opts){ 0 }, files, SW_COUNT(files));
    open_with(&child, &(struct sw_renderers_opts){ .program = program() }, files, SW_COUNT(files));
    assert_int_equal(plan(&here, &err), 0);
    assert_int_equal(plan(&child, &err), 0);
    assert_int_equal(render(&here, SW_ALL_STATES, &a, &err), 0);
    assert_int_equal(render(&child, SW_ALL_STATES, &b, &err), 0);
    static const size_t order[] = { 0, 1, 2, 2, 0, 1 };
    assert_int_equal(sw_rendered_n_manifests(a), 3);
    assert_int_equal(sw_rendered_n_manifests(b), 3);
    for (size_t i = 0; i < SW_COUNT(order); i++)
        assert_true(sw_json_equal(sw_rendered_manifest(a, order[i])->doc,
                                  sw_rendered_manifest(b, order[i])->doc));
    sw_rendered_free(a);
    sw_rendered_free(b);
    close_scene(&here);
    close_scene(&child);
}

/* Of the API versions of a cluster a recipe depends on those that it names, unless it may see all.
 */
static void test_versions(void **state SW_UNUSED)
{
    static const struct {
        const char *text;
        bool all;
    } cases[] = {
        { "a: 1", false },
        { "# {{ .Capabilities.KubeVersion }}", false },
        { "# {{ .Capabilities.APIVersions.Has \"a/v1\" }} {{ .Capabilities.APIVersions.Has `b/v1` "
          "}}",
          false },
        { "# {{ .Capabilities.APIVersions.Has \"a/v1\" }} {{ .Capabilities.APIVersions.Has $x }}",
          true },
        { "# {{ range .Capabilities.APIVersions }}{{ end }}", true },
        { "# {{ with .Capabilities }}{{ end }}", true },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++)
        for (int in_child = 0; in_child < 2; in_child++) {
            const char *const files[][2] = {
                { "Chart.yaml", "apiVersion: v2\nname: test\nversion: 1.0.0\n" },
                { "templates/1000-a.yaml", cases[i].text },
            };
            struct scene s;
            SW_ERR(err);
            open_with(&s, &(struct sw_renderers_opts){ .program = in_child ? program() : NULL },
                      files, SW_COUNT(files));
            assert_int_equal(load(&s, &err), 0);
            assert_int_equal(sw_renderer_recipe(s.r)->sees_all_versions, cases[i].all);
            close_scene(&s);
        }
}

/* A plan of the same request is there at once, even if its child is gone; one of another is not. */
static void test_same_plan(void **state SW_UNUSED)
{
    struct scene s;
    const struct sw_plan_view *first, *view = NULL;
    SW_ERR(err);
    open_with(&s, &(struct sw_renderers_opts){ .program = program() }, recipe, SW_COUNT(recipe));
    assert_int_equal(plan(&s, &err), 0);
    first = sw_renderer_plan_view(s.r);
    SW_AUTO_JSON *set = json_object_new_object();
    sw_json_set_str(set, "given", "text", NULL);
    assert_int_equal(sw_renderer_plan(s.r, s.wait, set, &s.env, "test", true, &view, &err), 0);
    assert_ptr_equal(view, first);
    sw_json_set_str(set, "other", "text", NULL);
    assert_int_equal(sw_renderer_plan(s.r, s.wait, set, &s.env, "test", true, &view, &err),
                     SW_PENDING);
    close_scene(&s);
}

static void test_errors(void **state SW_UNUSED)
{
    static const char *const bad[][3][2] = {
        { { "Chart.yaml", "name: [" } },
        { { "Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n" },
          { "templates/0000-a.yaml", "\n{{ .Values.a.b.c }}\n" } },
        { { "Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n" },
          { "templates/0000-a.yaml", "a: [\n" } },
        { { "Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n" } },
        { { "Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n" },
          { "templates/0000-a.yaml", "{{ range until 100000000 }}{{ end }}" } },
    };
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        char *texts[2] = { NULL };
        for (int in_child = 0; in_child < 2; in_child++) {
            struct scene s;
            struct sw_rendered *rendered = NULL;
            struct sw_recipe_file files[3];
            SW_ERR(err);
            size_t n = 0;
            SW_AUTO_CHARS *bundle = sw_strdup("slipway bundle 1\n");
            for (; n < 3 && bad[i][n][0]; n++)
                sw_append(&bundle, "%zu %zu\n%s%s\n", strlen(bad[i][n][0]), strlen(bad[i][n][1]),
                          bad[i][n][0], bad[i][n][1]);
            (void)files;
            open_with(&s, &(struct sw_renderers_opts){ .program = in_child ? program() : NULL },
                      recipe, SW_COUNT(recipe));
            sw_renderer_free(s.r);
            s.r = sw_renderer_new(s.all, "bad", sw_kept_new(bundle, strlen(bundle)));
            int rc = plan(&s, &err);
            if (rc == 0)
                rc = render(&s, 0, &rendered, &err);
            assert_int_equal(rc, SW_INVALID);
            texts[in_child] = sw_strdup(sw_err_text(&err));
            sw_rendered_free(rendered);
            close_scene(&s);
        }
        assert_string_equal(texts[0], texts[1]);
        free(texts[0]);
        free(texts[1]);
    }
}

/* ---- lookups ------------------------------------------------------------------------------------
 */

static int look_up(void *arg, const char *api_version, const char *kind, const char *ns,
                   const char *name, struct json_object **out, struct sw_err *err)
{
    struct scene *s = arg;
    assert_string_equal(api_version, "v1");
    assert_string_equal(kind, "Secret");
    assert_string_equal(ns, "there");
    s->lookups++;
    if (!s->found)
        return sw_err_set(err, SW_PENDING, "not yet");
    if (sw_streq(name, "forbidden"))
        return sw_err_set(err, SW_FORBIDDEN, "not for you");
    *out = json_object_new_object();
    sw_json_set_str(*out, name, "metadata", "name", NULL);
    return 0;
}

static const char *const looks[][2] = {
    { "Chart.yaml", "apiVersion: v2\nname: test\nversion: 1.0.0\n" },
    { "templates/0000-a.yaml",
      CM("a", "{{ (lookup \"v1\" \"Secret\" \"there\" \"key\").metadata.name }}") },
    { "templates/1000-b.yaml", CM("b", "{{ lookup \"v1\" \"Secret\" \"there\" \"forbidden\" }}") },
};

static void test_lookups(void **state SW_UNUSED)
{
    struct scene s;
    struct sw_rendered *rendered = NULL;
    SW_ERR(err);
    open_with(&s, &(struct sw_renderers_opts){ .program = program(), .wall_ms = 4000 }, looks,
              SW_COUNT(looks));
    s.env.lookup = look_up;
    s.env.lookup_arg = &s;
    assert_int_equal(plan(&s, &err), 0);
    assert_int_equal(sw_renderer_render(s.r, s.wait, &s.env, 0, &rendered, &err), SW_PENDING);
    for (int64_t end_ms = sw_loop_now_ms(s.loop) + 20000;
         !s.lookups && sw_loop_now_ms(s.loop) < end_ms;)
        sw_loop_step(s.loop, 100);
    assert_int_equal(s.lookups, 1);
    /* as often as it is asked: the child waits, and there is one request */
    assert_int_equal(sw_renderer_render(s.r, s.wait, &s.env, 0, &rendered, &err), SW_PENDING);
    s.found = true;
    assert_int_equal(render(&s, 0, &rendered, &err), 0);
    assert_string_equal(
        sw_json_str(sw_rendered_manifest(rendered, 0)->doc, "", "data", "text", NULL), "key");
    sw_rendered_free(SW_TAKE(rendered));
    assert_int_equal(render(&s, 1, &rendered, &err), SW_FORBIDDEN);
    assert_non_null(strstr(sw_err_text(&err), "not for you"));
    close_scene(&s);
}

/* ---- children that end --------------------------------------------------------------------------
 */

static void test_killed(void **state SW_UNUSED)
{
    struct scene s;
    open_with(&s, &(struct sw_renderers_opts){ .program = program() }, recipe, SW_COUNT(recipe));
    SW_AUTO_CHARS *whole = everything(&s);
    for (int i = 0; i < 8; i++) {
        SW_ERR(err);
        SW_AUTO(sw_rendered) *rendered = NULL;
        sw_render_wait_free(s.wait); /* nothing of what was rendered is used again */
        s.wait = sw_render_wait_new(on_answered, &s);
        int rc = sw_renderer_render(s.r, s.wait, &s.env, 0, &rendered, &err);
        assert_int_equal(rc, SW_PENDING);
        for (int k = 0; k < i; k++)
            sw_loop_step(s.loop, k % 3);
        if (child_pid())
            (void)kill(child_pid(), SIGKILL);
        assert_int_equal(render(&s, 0, &rendered, &err), 0);
        assert_int_equal(sw_rendered_n_manifests(rendered), 3);
    }
    assert_int_equal(sw_renderers_stats(s.all).n_killed, 0);
    close_scene(&s);
}

/* A program that is no renderer: @script gets what a renderer gets. */
static char *impostor(const char *script)
{
    char *path = sw_printf("/tmp/renderer-test-%d.sh", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fprintf(f, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static void test_impostors(void **state SW_UNUSED)
{
    static const struct {
        const char *script, *says;
        int code;
    } rows[] = {
        { "printf 'no message at all' >&0; sleep 9", "no message", SW_INVALID },
        { "printf 'A\\377\\377\\377\\377' >&0; sleep 9", "no message", SW_INVALID },
        { "printf 'A\\000\\000\\000\\002[]' >&0; sleep 9", "no message", SW_INVALID },
        { "printf 'A\\000\\000\\000\\002{}' >&0; sleep 9", "", SW_INVALID },
        { "printf 'A\\000\\000\\000\\012{\"code\":0}' >&0; sleep 9", "without a recipe",
          SW_INVALID },
        { "printf 'M\\000\\000\\000\\002{}' >&0; sleep 9", "nobody asked", SW_INVALID },
        { "exec sleep 9", "took more than its 300 ms", SW_INVALID },
        { "exit 7", "ended with code 7", SW_UNAVAILABLE },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct scene s;
        SW_ERR(err);
        SW_AUTO_CHARS *path = impostor(rows[i].script);
        open_with(&s, &(struct sw_renderers_opts){ .program = path, .wall_ms = 300 }, recipe,
                  SW_COUNT(recipe));
        assert_int_equal(load(&s, &err), rows[i].code);
        if (!strstr(sw_err_text(&err), rows[i].says))
            fail_msg("row %zu: %s", i, sw_err_text(&err));
        close_scene(&s);
        (void)unlink(path);
    }
}

/* ---- limits -------------------------------------------------------------------------------------
 */

static const char *const greedy[][2] = {
    { "Chart.yaml", "apiVersion: v2\nname: greedy\nversion: 1.0.0\n" },
    { "templates/0000-a.yaml", "a: b\n{{- $l := list }}\n{{ range until 100000 }}{{ $l = append $l "
                               "(repeat 100 (toString .)) }}{{ end }}\n" },
    { "templates/1000-b.yaml",
      "{{ range until 100 }}\n{{ genPrivateKey \"rsa\" | len }}{{ end }}\n" },
    { "templates/2000-c.yaml", CM("c", "c") },
};

static void test_limits(void **state SW_UNUSED)
{
    static const struct {
        size_t bytes, state;
        int64_t wall_ms;
        const char *place, *limit;
    } rows[] = {
        { 20 << 20, 0, 0, "greedy/templates/0000-a.yaml:3: ", "took more than its 20 MiB" },
        /* two keys, which the steps allow, take longer, but for luck */
        { 0, 1, 300, "greedy/templates/1000-b.yaml:2: ", "took more than its 300 ms" },
    };
    int lucky = 0; /* both keys were found within the time, and the steps were over first */
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct scene s;
        SW_AUTO(sw_rendered) *rendered = NULL;
        SW_ERR(err);
        open_with(&s,
                  &(struct sw_renderers_opts){ .program = release(),
                                               .child_bytes = rows[i].bytes,
                                               .wall_ms = rows[i].wall_ms },
                  greedy, SW_COUNT(greedy));
        assert_int_equal(plan(&s, &err), 0);
        assert_int_equal(render(&s, rows[i].state, &rendered, &err), SW_INVALID);
        if (rows[i].wall_ms && lucky < 10 && strstr(sw_err_text(&err), "steps")) {
            lucky++;
            i--;
            close_scene(&s);
            continue;
        }
        if (!strstr(sw_err_text(&err), rows[i].place) || !strstr(sw_err_text(&err), rows[i].limit))
            fail_msg("%s", sw_err_text(&err));
        assert_int_equal(sw_renderers_stats(s.all).n_killed, 1);
        int64_t before_ms = sw_loop_now_ms(s.loop); /* the next try comes later, in a new child */
        assert_int_equal(render(&s, 2, &rendered, &err), 0);
        assert_true(sw_loop_now_ms(s.loop) - before_ms > 800);
        assert_int_equal(sw_renderers_stats(s.all).n_started, 2);
        close_scene(&s);
    }
}

static char *read_proc(pid_t pid, const char *file)
{
    SW_AUTO_CHARS *path = sw_printf("/proc/%d/%s", (int)pid, file);
    FILE *f = fopen(path, "r");
    char *text = sw_zalloc(1 << 16, 1);
    if (f) {
        (void)!fread(text, 1, (1 << 16) - 1, f);
        (void)fclose(f);
    }
    return text;
}

static void test_confined(void **state SW_UNUSED)
{
    struct scene s;
    SW_ERR(err);
    (void)setenv("SECRET_OF_THE_TEST", "1", 1);
    open_with(&s, &(struct sw_renderers_opts){ .program = release() }, recipe, SW_COUNT(recipe));
    assert_int_equal(load(&s, &err), 0);
    pid_t pid = child_pid();
    assert_true(pid > 0);
    SW_AUTO_CHARS *status = read_proc(pid, "status"), *limits = read_proc(pid, "limits");
    assert_non_null(strstr(status, "NoNewPrivs:\t1"));
    if (!strstr(status, "Seccomp:\t2"))
        print_message("no seccomp here\n");
    assert_non_null(strstr(limits, "58720256             58720256             bytes"));
    SW_AUTO_CHARS *environment = read_proc(pid, "environ");
    assert_string_equal(environment, "");
    if (geteuid() == 0) { /* it is not dumpable: others cannot look */
        SW_AUTO_CHARS *path = sw_printf("/proc/%d/fd", (int)pid);
        DIR *d = opendir(path);
        int n = 0;
        for (struct dirent *e; d && (e = readdir(d));)
            n += e->d_name[0] != '.';
        if (d)
            (void)closedir(d);
        assert_int_equal(n, 1);
    }
    close_scene(&s);
}

/* ---- several recipes, and what nobody waits for any more ----------------------------------------
 */

static void test_many(void **state SW_UNUSED)
{
    enum { N = 6 };
    struct scene s;
    struct sw_renderer *others[N];
    struct sw_render_wait *waits[N];
    const struct sw_recipe_view *view;
    SW_ERR(err);
    open_with(&s, &(struct sw_renderers_opts){ .program = program(), .n_children = 2 }, recipe,
              SW_COUNT(recipe));
    for (int i = 0; i < N; i++) {
        others[i] = recipe_of(s.all, recipe, SW_COUNT(recipe));
        waits[i] = sw_render_wait_new(on_answered, &s);
        assert_int_equal(sw_renderer_load(others[i], waits[i], NULL, &view, &err), SW_PENDING);
    }
    for (int i = 0; i < N; i++)
        while (sw_renderer_load(others[i], waits[i], NULL, &view, &err) == SW_PENDING) {
            assert_true(sw_renderers_stats(s.all).n_children <= 2);
            sw_loop_step(s.loop, 1000);
        }
    assert_int_equal(sw_renderers_stats(s.all).n_started, N); /* one for each, never shared */
    /* freed while a child works, while it waits, and before it was begun */
    assert_int_equal(sw_renderer_load(s.r, s.wait, NULL, &view, &err), SW_PENDING);
    sw_render_wait_free(SW_TAKE(s.wait));
    for (int i = 0; i < N; i++) {
        sw_render_wait_free(waits[i]);
        sw_renderer_free(others[i]);
    }
    s.answered = false;
    s.wait = sw_render_wait_new(on_answered, &s);
    assert_int_equal(load(&s, &err), 0);
    /* who waits for a recipe that goes is told */
    const struct sw_plan_view *p;
    assert_int_equal(sw_renderer_plan(s.r, s.wait, NULL, &s.env, NULL, false, &p, &err),
                     SW_PENDING);
    sw_renderer_free(s.r);
    s.r = recipe_of(s.all, recipe, SW_COUNT(recipe));
    wait_answer(&s);
    assert_int_equal(plan(&s, &err), 0);
    close_scene(&s);
}

static void test_idle(void **state SW_UNUSED)
{
    struct scene s;
    SW_ERR(err);
    open_with(&s, &(struct sw_renderers_opts){ .program = program(), .idle_ms = 50 }, recipe,
              SW_COUNT(recipe));
    assert_int_equal(plan(&s, &err), 0);
    for (int64_t end_ms = sw_loop_now_ms(s.loop) + 10000;
         sw_renderers_stats(s.all).n_children && sw_loop_now_ms(s.loop) < end_ms;)
        sw_loop_step(s.loop, 100);
    assert_int_equal(child_pid(), 0);
    SW_AUTO(sw_rendered) *rendered = NULL; /* a new child loads and plans first */
    assert_int_equal(render(&s, 0, &rendered, &err), 0);
    assert_int_equal(sw_rendered_n_manifests(rendered), 3);
    close_scene(&s);
}

int main(void)
{
    sw_program_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_lookups),   cmocka_unit_test(test_killed),
        cmocka_unit_test(test_same_plan), cmocka_unit_test(test_impostors),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_confined),
        cmocka_unit_test(test_many),      cmocka_unit_test(test_idle),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
