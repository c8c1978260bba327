/* Kinds that come while the controller runs, and what it knows of them. */
#include "run_sro.h"

#define CRD(kind, plural)                                                                          \
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  "           \
    "name: " plural ".example.com\nspec:\n  group: example.com\n  scope: Namespaced\n"             \
    "  names: {kind: " kind ", plural: " plural "}\n  versions:\n"                                 \
    "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n"
#define OBJECT(kind) "apiVersion: example.com/v1\nkind: " kind "\nmetadata: {name: it}\n"
#define VERSION "/apis/example.com/v1"

static int n_stale,
    n_asked; /* answers still to be spoilt; questions for the kinds of the version */

/* From the moment at which the second definition is there, its kind is not listed for a while. */
static void list_late(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                      struct world *w SW_UNUSED)
{
    if (sw_streq(req->verb, "patch") && sw_streq(req->name, "betas.example.com"))
        n_stale = 4;
    if (!sw_streq(req->path, VERSION))
        return;
    n_asked++;
    if (n_stale > 0 && n_stale--)
        fault->type = SW_FAULT_STALE;
}

/* A definition is called established, and a busy server lists its kind later: in a group version
 * that it serves already nothing else would ever tell. */
static void a_kind_that_its_version_lists_late_is_waited_for(void **state)
{
    (void)state;
    struct world w = { .on_request = list_late };
    char *root = chart_root();
    SW_AUTO_CHARS *first = CHART(root, "first",
                                 { "templates/0000-crd.yaml", CRD("Alpha", "alphas") },
                                 { "templates/1000-it.yaml", OBJECT("Alpha") });
    SW_AUTO_CHARS *second = CHART(root, "second",
                                  { "templates/0000-crd.yaml", CRD("Beta", "betas") },
                                  { "templates/1000-it.yaml", OBJECT("Beta") });
    world_open(&w);
    sro_run(&w, first);
    sro_until(&w, "first", "Ready", NULL);
    sro_run(&w, second);
    sro_until(&w, "second", "Ready", NULL);
    assert_int_equal(n_stale, 0);
    sro_until_there(&w, "example.com/v1", "Beta", "second", "it");
    world_wait(&w, 60000);
    n_asked = 0;
    world_wait(&w, 10 * 60000);
    assert_int_equal(n_asked, 0); /* what has come is not asked for again */
    sro_until(&w, "first", "Ready", NULL);
    world_close(&w);
    chart_remove(root);
}

static int n_groups, n_core; /* questions for the lists of groups, and of core's versions */
static bool guessed;

/* Of the first look the list of groups does not come, of the second one that of core. What the
 * first look brought is enough to see nodes, what both brought to see resources. */
static void tell_groups_late(const struct sw_emu_request *req, struct sw_emu_fault *fault,
                             struct world *w SW_UNUSED)
{
    if ((sw_streq(req->path, "/apis") && n_groups++ == 0) ||
        (sw_streq(req->path, "/api") && n_core++ == 1))
        fault->type = SW_FAULT_HANG;
    if (sw_streq(req->verb, "patch") && sw_streq(req->name, "platform"))
        guessed |= !strstr(req->body, "OCP");
}

static void nothing_is_rendered_before_the_platform_is_known(void **state)
{
    (void)state;
    struct world w = { .on_request = tell_groups_late };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "first",
                               { "templates/0000-c.yaml",
                                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: platform}\n"
                                 "data: {it: '{{ .Values.platform }}'}\n" });
    world_open(&w);
    sro_apply(&w, dir);
    n_groups = n_core = 0;
    world_start(&w);
    sro_until(&w, "first", "Ready", NULL);
    assert_true(n_groups > 1 && n_core > 1);
    assert_false(guessed);
    world_close(&w);
    chart_remove(root);
}

/* Deprecated since 1.21, served up to 1.24. */
#define CRON_JOB                                                                                   \
    "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: nightly}\nspec:\n  schedule: "     \
    "'0 0 1 1 *'\n  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: "     \
    "[{name: c, image: registry/c:1}]}}}}\n"

static void what_the_api_server_warns_of_is_an_event_once(void **state)
{
    (void)state;
    struct world w = { 0 };
    char *root = chart_root();
    SW_AUTO_CHARS *dir = CHART(root, "warned", { "templates/0000-it.yaml", CRON_JOB });
    world_open_with(&w, &(struct sw_emulator_opts){ .kube_version = "1.22" });
    sro_run(&w, dir);
    sro_until(&w, "warned", "Ready", NULL);
    SW_AUTO_CHARS *events = sro_events(&w, "APIWarning");
    assert_string_equal(events,
                        "CronJob nightly: the API server warns: batch/v1beta1 CronJob is "
                        "deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob\n");
    /* applied anew, as somebody has changed it */
    assert_int_equal(world_patch(&w, "batch/v1beta1", "CronJob", "warned", "nightly", NULL,
                                 "{\"spec\":{\"schedule\":\"1 1 1 1 *\"}}"),
                     0);
    world_wait(&w, 60000);
    SW_AUTO_CHARS *later = sro_events(&w, "APIWarning");
    assert_string_equal(later, events);
    world_close(&w);
    chart_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_rendered_before_the_platform_is_known),
        cmocka_unit_test(a_kind_that_its_version_lists_late_is_waited_for),
        cmocka_unit_test(what_the_api_server_warns_of_is_an_event_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
