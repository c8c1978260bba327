/* What cannot work is said where users look, with its class and what to do about it, and stops
 * nobody else. */
#include "run_sro.h"

#define MAP "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
#define NAMESPACE "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"bad\"}}"

struct trial {
    const char *name;
    const char *manifest; /* NULL: a ConfigMap */
    const char *patch;    /* of the resource; NULL: none */
    const char *objects[2];
    const char *type;   /* of the condition that is True */
    const char *words;  /* class, object, field and hint: in the condition's message */
    const char *mended; /* a patch of the resource with which it becomes Ready; NULL: none */
};

static const struct trial trials[] = {
    { .name = "chart that is not there",
      .patch = "{\"spec\":{\"chart\":{\"repository\":{\"url\":\"file:///nowhere\"}}}}",
      .type = "Errored",
      .words = "spec.chart: /nowhere: No such file or directory [Failed: check name" },
    { .name = "version that is not there",
      .patch = "{\"spec\":{\"chart\":{\"version\":\"9.9.9\"}}}",
      .type = "Errored",
      .words =
          "spec.chart.version: '9.9.9' is wanted, chart 'bad' there has version 0.0.1 [Failed:",
      .mended = "{\"spec\":{\"chart\":{\"version\":\">=0.0.1\"}}}" },
    { .name = "selector that no label can match",
      .patch = "{\"spec\":{\"nodeSelector\":{\"bad key!\":\"x\"}}}",
      .type = "Errored",
      .words = "spec.nodeSelector: 'bad key!' is no label",
      .mended = "{\"spec\":{\"nodeSelector\":null}}" },
    { .name = "selector that no node matches",
      .patch = "{\"spec\":{\"nodeSelector\":{\"no\":\"such\"}}}",
      .type = "Progressing",
      .words = "NoMatchingNodes: no untainted node matches spec.nodeSelector {\"no\":\"such\"}",
      .mended = "{\"spec\":{\"nodeSelector\":{\"no\":null}}}" },
    { .name = "recipe that renders nothing",
      .manifest = "{{- if .Values.no }}\n" MAP "{{- end }}\n",
      .type = "Errored",
      .words = "renders to no object at all [Failed:",
      .mended = "{\"spec\":{\"set\":{\"kind\":\"Values\",\"no\":true}}}" },
    { .name = "template that cannot be rendered",
      .manifest = MAP "data: {{ .Values.a.b.c }}\n",
      .type = "Errored",
      .words = "bad/templates/0000-t.yaml:5:" },
    { .name = "quota that is used up",
      .objects = { NAMESPACE,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":"
                   "\"q\",\"namespace\":\"bad\"},\"spec\":{\"hard\":{\"configmaps\":"
                   "\"0\"}}}" },
      .type = "Progressing",
      .words = "[Retrying: raise the namespace's ResourceQuota" },
    { .name = "object of somebody else",
      .objects = { NAMESPACE,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                   "\"c\",\"namespace\":\"bad\"},\"data\":{\"theirs\":\"yes\"}}" },
      .type = "Errored",
      .words = "ConfigMap bad/c exists and is not slipway's (written by somebody): remove it, name "
               "another in the recipe" },
    { .name = "version that this server does not serve",
      .manifest = "apiVersion: policy/v1beta7\nkind: PodDisruptionBudget\nmetadata:\n  name: p\n"
                  "spec: {minAvailable: 1}\n",
      .type = "Progressing",
      .words = "does not serve that version (but policy/v1) [Waiting: take a version that the "
               "message names" },
    { .name = "field of another type",
      .manifest = "apiVersion: v1\nkind: Service\nmetadata:\n  name: p\n"
                  "spec: {ports: [{port: many}]}\n",
      .type = "Errored",
      .words = "Service bad/p: apply services 'bad/p': " },
};

static void try_one(const struct trial *t)
{
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *good = CHART(root, "good", { "templates/0000-t.yaml", MAP });
    SW_AUTO_CHARS *bad = CHART(root, "bad",
                               { "templates/0000-t.yaml", t->manifest ? t->manifest : MAP });
    world_open(&w);
    for (size_t i = 0; i < SW_COUNT(t->objects) && t->objects[i]; i++)
        assert_int_equal(world_create(&w, t->objects[i]), 0);
    sro_apply(&w, bad);
    if (t->patch)
        assert_int_equal(
            world_patch(&w, SR_VERSION, "SpecialResource", NULL, "bad", NULL, t->patch), 0);
    world_start(&w);
    sro_until(&w, "bad", t->type, t->words);
    sro_apply(&w, good);
    sro_until(&w, "good", "Ready", NULL);
    if (t->words)
        sro_until(&w, "bad", t->type, t->words);
    if (t->mended) {
        assert_int_equal(
            world_patch(&w, SR_VERSION, "SpecialResource", NULL, "bad", NULL, t->mended), 0);
        sro_until(&w, "bad", "Ready", NULL);
    }
    world_close(&w);
    chart_remove(root);
}

static void each_is_said_with_what_to_do_and_others_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < SW_COUNT(trials); i++) {
        print_message("# %s\n", trials[i].name);
        try_one(&trials[i]);
    }
}

static void deny(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                 struct world *w SW_UNUSED)
{
    if (sw_streq(req->resource, "configmaps") && sw_streq(req->verb, "patch"))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 403 };
}

static void what_is_denied_names_the_object_and_stays_so_while_it_is_tried_again(void **state)
{
    (void)state;
    struct world w = { .on_request = deny };
    char *root = chart_root();
    SW_AUTO_CHARS *bad = CHART(root, "bad", { "templates/0000-t.yaml", MAP });
    world_open(&w);
    sro_run(&w, bad);
    for (int i = 0; i < 5; i++) {
        sro_until(&w, "bad", "Errored", "ConfigMap bad/c");
        sro_until(&w, "bad", "Errored", "[Failed: give the account the rights");
        world_wait(&w, 10000);
    }
    w.on_request = NULL;
    sro_until(&w, "bad", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

#define HELD                                                                                       \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\",\"namespace\":"    \
    "\"bad\",\"finalizers\":[\"a.b/c\"]}}"

static void namespace_that_goes_is_waited_for(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *bad = CHART(root, "bad", { "templates/0000-t.yaml", MAP });
    world_open(&w);
    assert_int_equal(world_create(&w, NAMESPACE), 0);
    assert_int_equal(world_create(&w, HELD), 0);
    assert_int_equal(world_delete(&w, "v1", "Namespace", NULL, "bad"), 0);
    sro_run(&w, bad);
    sro_until(&w, "bad", "Progressing", "Namespace bad is being deleted");
    assert_int_equal(world_patch(&w, "v1", "ConfigMap", "bad", "x", NULL,
                                 "{\"metadata\":{\"finalizers\":null}}"),
                     0);
    sro_until(&w, "bad", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

/* An API that somebody else's server has (or should have), as a metrics adapter does. */
#define THINGS                                                                                     \
    "{\"apiVersion\":\"apiextensions.k8s.io/"                                                      \
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"                                     \
    "{\"name\":\"things.far.example\"},\"spec\":{\"group\":\"far.example\",\"scope\":"             \
    "\"Namespaced\","                                                                              \
    "\"names\":{\"plural\":\"things\",\"kind\":\"Thing\"},\"versions\":[{\"name\":\"v1\","         \
    "\"served\":"                                                                                  \
    "true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}"

static void keep_silent(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                        struct world *w SW_UNUSED)
{
    if (sw_ends_with(req->path, "/apis/far.example/v1"))
        *fault = (struct sw_emu_fault){ .type = SW_FAULT_ERROR, .code = 503 };
}

static void api_that_does_not_answer_is_named_and_waited_for(void **state)
{
    (void)state;
    struct world w = { .on_request = keep_silent };
    char *root = chart_root();
    SW_AUTO_CHARS *good = CHART(root, "good", { "templates/0000-t.yaml", MAP });
    SW_AUTO_CHARS *bad = CHART(
        root, "bad",
        { "templates/0000-t.yaml",
          "apiVersion: far.example/v1\nkind: Thing\nmetadata:\n  name: t\n" });
    world_open_with(&w, &(struct sw_emulator_opts){ .kube_version = "1.20" });
    assert_int_equal(world_create(&w, THINGS), 0);
    world_wait(&w, 5000);
    sro_run(&w, bad);
    sro_until(&w, "bad", "Errored",
              "the recipe mentions far.example/v1, and the server of that API does not answer: "
              "kubectl get "
              "apiservice v1.far.example [Retrying: ");
    sro_run(&w, good);
    sro_until(&w, "good", "Ready", NULL);
    w.on_request = NULL;
    sro_until(&w, "bad", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_said_with_what_to_do_and_others_go_on),
        cmocka_unit_test(what_is_denied_names_the_object_and_stays_so_while_it_is_tried_again),
        cmocka_unit_test(namespace_that_goes_is_waited_for),
        cmocka_unit_test(api_that_does_not_answer_is_named_and_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
