#pragma once
/* A cluster on a virtual clock for tests of the controllers and rules: made of YAML, looked at
 * through JSONPath. */
#include "base/base.h"
#include "base/loop.h"
#include "data/data.h"
#include "emulator/emulator.h"
#include "emulator/store/document.h"
#include "emulator/store/store.h"
#include "emulator/write/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct cluster {
    struct sw_loop *loop;
    struct sw_emulator *emu;
    struct sw_store *store;
    char folder[64]; /* of the test's own rules, "" without */
};

/* Let virtual time pass. */
static inline void pass(struct cluster *c, int64_t ms)
{
    int64_t end = sw_loop_now_ms(c->loop) + ms;
    while (sw_loop_now_ms(c->loop) < end)
        sw_loop_step(c->loop, end - sw_loop_now_ms(c->loop));
    sw_loop_step(c->loop, 0);
}

/* The emulator's own options; @rules: a file of rules for this test, or NULL. */
static inline void cluster_open(struct cluster *c, const struct sw_emulator_opts *given,
                                const char *rules)
{
    struct sw_emulator_opts opts = given ? *given : (struct sw_emulator_opts){ 0 };
    SW_ERR(err);
    *c = (struct cluster){ 0 };
    c->loop = sw_loop_new(
        &(struct sw_loop_opts){ .virtual_clock = true, .start_ms = 1700000000000 });
    opts.seed = opts.seed ? opts.seed : 7;
    if (rules) {
        SW_AUTO_CHARS *file = NULL;
        (void)snprintf(c->folder, sizeof c->folder, "/tmp/slipway-rules-XXXXXX");
        assert_non_null(mkdtemp(c->folder));
        file = sw_printf("%s/test.yaml", c->folder);
        assert_int_equal(sw_file_write(file, rules, strlen(rules), &err), 0);
        opts.rules_dir = c->folder;
    }
    if (sw_emulator_open(c->loop, &opts, &c->emu, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    c->store = sw_emulator_store(c->emu);
    pass(c, 20); /* the namespaces' accounts */
}

static inline void cluster_close(struct cluster *c)
{
    sw_emulator_close(c->emu);
    sw_loop_free(c->loop);
    if (*c->folder) {
        SW_AUTO_CHARS *file = sw_printf("%s/test.yaml", c->folder);
        (void)unlink(file);
        (void)rmdir(c->folder);
    }
}

/* Half a second is more than anything here takes that is not meant to take time. */
static inline void settle(struct cluster *c)
{
    pass(c, 500);
}

static inline const struct sw_emu_kind *kind_of(struct cluster *c, const char *api_version,
                                                const char *kind)
{
    SW_AUTO_JSON *doc = sw_doc_new("apiVersion", sw_str(api_version), "kind", sw_str(kind), NULL);
    const struct sw_emu_kind *k = sw_store_kind_of(c->store, doc);
    if (!k)
        fail_msg("%s %s is not served", api_version, kind);
    return k;
}

/* Create all objects of a YAML text, or replace those that exist. */
static inline void put(struct cluster *c, const char *yaml)
{
    struct sw_yaml_docs docs = { 0 };
    SW_ERR(err);
    if (sw_yaml_parse_all(yaml, strlen(yaml), NULL, &docs, &err) < 0)
        fail_msg("%s", sw_err_text(&err));
    for (size_t i = 0; i < docs.n_docs; i++) {
        SW_STATUS(status);
        json_object *doc = docs.docs[i].object;
        const struct sw_emu_kind *k = kind_of(c, sw_obj_api_version(doc), sw_obj_kind(doc));
        if (k->namespaced && !*sw_obj_namespace(doc))
            sw_json_set_str(doc, "default", "metadata", "namespace", NULL);
        const char *ns = sw_obj_namespace(doc);
        int rc = sw_store_get(c->store, k, ns, sw_obj_name(doc))
                     ? sw_write_update(c->store, k, ns, sw_json_copy(doc), NULL, NULL, &status)
                     : sw_store_create(c->store, k, ns, doc, NULL, NULL, &status);
        if (rc < 0)
            fail_msg("%s %s: %s", sw_obj_kind(doc), sw_obj_name(doc), status.message);
    }
    sw_yaml_docs_done(&docs);
}

static inline json_object *get(struct cluster *c, const char *api_version, const char *kind,
                               const char *ns, const char *name)
{
    return sw_store_get(c->store, kind_of(c, api_version, kind), ns, name);
}

/* A merge patch; @subresource NULL or "status". */
static inline void patch(struct cluster *c, const char *api_version, const char *kind,
                         const char *ns, const char *name, const char *subresource,
                         const char *yaml)
{
    json_object *doc = NULL;
    SW_STATUS(status);
    struct sw_store_opts opts = { .subresource = subresource };
    assert_int_equal(sw_yaml_parse(yaml, strlen(yaml), NULL, &doc, NULL), 0);
    if (sw_store_patch(c->store, kind_of(c, api_version, kind), ns, name, SW_PATCH_MERGE, doc,
                       &opts, NULL, &status) < 0)
        fail_msg("%s %s: %s", kind, name, status.message);
    json_object_put(doc);
}

static inline void drop(struct cluster *c, const char *api_version, const char *kind,
                        const char *ns, const char *name)
{
    SW_STATUS(status);
    if (sw_store_delete(c->store, kind_of(c, api_version, kind), ns, name, NULL, NULL, &status) < 0)
        fail_msg("%s %s: %s", kind, name, status.message);
}

/* What kubectl -o jsonpath would print of an object; the caller's. */
static inline char *see(json_object *doc, const char *path)
{
    SW_AUTO(sw_jsonpath) *p = NULL;
    char *text = NULL;
    SW_ERR(err);
    if (!doc)
        return sw_strdup("(no object)");
    if (sw_jsonpath_compile(path, &p, &err) < 0 || sw_jsonpath_print(p, doc, true, &text, &err) < 0)
        fail_msg("%s: %s", path, sw_err_text(&err));
    return text;
}

#define expect(c, api_version, kind, ns, name, path, want)                                         \
    do {                                                                                           \
        SW_AUTO_CHARS *text_ = see(get(c, api_version, kind, ns, name), path);                     \
        assert_string_equal(text_, want);                                                          \
    } while (0)

/* The pods in a namespace that a selector chooses; counted, in order of names. */
struct pods {
    json_object *items[64];
    size_t n;
};

static inline void pods_done(struct pods *pods)
{
    for (size_t i = 0; i < pods->n; i++)
        json_object_put(pods->items[i]);
}
#define PODS(name) __attribute__((cleanup(pods_done))) struct pods name = { 0 }

static inline void find_pods(struct cluster *c, const char *ns, const char *selector,
                             struct pods *out)
{
    SW_STORE_LIST(list);
    struct sw_selector sel = { 0 };
    pods_done(out);
    out->n = 0;
    assert_int_equal(sw_selector_parse(selector, &sel, NULL), 0);
    sw_store_list(c->store, kind_of(c, "v1", "Pod"), ns, &list);
    for (size_t i = 0; i < list.n; i++) {
        if (!sw_selector_matches_object(&sel, list.items[i]))
            continue;
        assert_true(out->n < SW_COUNT(out->items));
        out->items[out->n++] = json_object_get(list.items[i]);
    }
    sw_selector_done(&sel);
}

/* How many of them have @want at @path. */
static inline size_t count_pods(struct cluster *c, const char *ns, const char *selector,
                                const char *path, const char *want)
{
    PODS(pods);
    size_t n = 0;
    find_pods(c, ns, selector, &pods);
    for (size_t i = 0; i < pods.n; i++) {
        SW_AUTO_CHARS *text = see(pods.items[i], path);
        n += sw_streq(text, want);
    }
    return n;
}

static inline size_t n_running(struct cluster *c, const char *selector)
{
    return count_pods(c, "default", selector, "{.status.phase}", "Running");
}
