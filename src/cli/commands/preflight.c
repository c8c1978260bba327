/* slipway preflight: whether a recipe's driver containers fit a kernel that no node runs yet. */
#include "base/loop.h"
#include "chart/fetch/fetch.h"
#include "cli/cluster/connect.h"
#include "cli/cluster/requests.h"
#include "cli/commands/commands.h"
#include "cli/recipe/recipe_flags.h"
#include "data/data.h"
#include "kube/kube.h"
#include "operator/facts/facts.h"
#include "operator/registries/driver_images.h"
#include "operator/registries/registries.h"
#include "operator/registries/release_image.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct preflight_opts {
    struct sw_recipe_flags recipe;
    struct sw_connect_opts connect;
    const char *kernel, *image, *toolkit, *os, *arch, *output, *registries_conf, *registry_ca;
    bool offline;
};

#define FIELD(name) offsetof(struct preflight_opts, name)

static const struct sw_flag flags[] = {
    { "kernel", 0, SW_FLAG_STRING, FIELD(kernel), "VERSION", NULL,
      "kernel version to check (default: that of --image)" },
    { "image", 0, SW_FLAG_STRING, FIELD(image), "PAYLOAD", NULL,
      "release image of OpenShift, which names kernel, version and driver toolkit" },
    { "toolkit", 0, SW_FLAG_STRING, FIELD(toolkit), "IMAGE", NULL,
      "driver toolkit image, instead of a release image" },
    { "os", 0, SW_FLAG_STRING, FIELD(os), "VERSION", NULL,
      "version of the operating system, such as 8.4 (default: by the kernel)" },
    { "arch", 0, SW_FLAG_STRING, FIELD(arch), "ARCH", NULL,
      "architecture of the nodes (default amd64)" },
    { "offline", 0, SW_FLAG_BOOL, FIELD(offline), NULL, NULL,
      "use no registry: only print which images are needed" },
    { "output", 'o', SW_FLAG_STRING, FIELD(output), "FORMAT", "json|text",
      "json: one document (default text)" },
    { "registries-conf", 0, SW_FLAG_STRING, FIELD(registries_conf), "FILE", NULL,
      "file with mirrors of registries (default /etc/containers/registries.conf)" },
    { "registry-ca-file", 0, SW_FLAG_STRING, FIELD(registry_ca), "FILE", NULL,
      "PEM file of CA certificates of registries to trust besides the system's" },
    SW_RECIPE_FLAGS(FIELD(recipe)),
    SW_MIRROR_FLAG(FIELD(recipe.source)),
    SW_CONNECT_FLAGS(struct preflight_opts, connect),
    { 0 },
};

struct preflight {
    struct preflight_opts opts;
    struct sw_connection conn; /* without a cluster only its loop */
    struct sw_registries *registries;
    struct sw_facts *facts;
    char *kernel, *version; /* of the payload, or as given */
    struct sw_opened_recipe opened;
    struct json_object *report;
    int code;
    struct sw_err err;
    struct json_object *resource; /* on the cluster; NULL: a recipe was given */
    char *source;                 /* the recipe, or the resource's name until it is read */
};

/* ---- a resource by its name --------------------------------------------------------------------
 */

/* The recipe of the resource, as other commands have it from their options. */
static void take_source(struct preflight *f)
{
    struct json_object *chart = sw_json_find(f->resource, "spec", "chart", NULL);
    const char *url = sw_json_str(chart, "", "repository", "url", NULL);
    const char *name = sw_json_str(chart, "", "name", NULL);
    const char *version = sw_json_str(chart, "", "version", NULL);
    free(f->source);
    if (sw_starts_with(url, "file://")) {
        SW_AUTO_CHARS *found = sw_fetch_chart_url(url, name, version, NULL);
        f->source = sw_strdup(found + strlen("file://"));
    } else if (sw_starts_with(url, "cm://") || sw_starts_with(url, "oci://")) {
        f->source = sw_strdup(url);
    } else {
        f->source = sw_strdup(name);
        f->opts.recipe.source.repo = url;
        f->opts.recipe.source.version = version;
    }
    f->opts.recipe.source.criteria = sw_json_str(chart, NULL, "aicr", "criteria", NULL);
    f->opts.recipe.source.data = sw_json_str(chart, NULL, "aicr", "data", NULL);
    f->opts.recipe.name = sw_obj_name(f->resource);
    f->opts.recipe.namespace = sw_json_str(f->resource, sw_obj_name(f->resource), "spec",
                                           "namespace", NULL);
}

static int find_resource(struct preflight *f, struct sw_err *err)
{
    int rc = sw_connection_init(&f->conn, "preflight", &f->opts.connect, err);
    if (rc < 0)
        return sw_err_wrap(err, rc, "'%s' is no recipe here, and no cluster can be asked for it",
                           f->source);
    rc = sw_cluster_resource(&f->conn, f->source, 2, &f->resource, err);
    if (rc == 0)
        take_source(f);
    return rc;
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static void on_payload(int code, const char *message, const struct sw_release_image *p, void *arg)
{
    struct preflight *f = arg;
    const char *kernel = f->opts.kernel;
    f->code = code;
    if (code < 0) {
        (void)sw_err_set(&f->err, code, "%s", message);
    } else {
        f->facts = sw_release_image_facts(p, kernel, f->opts.os, f->opts.arch);
        f->kernel = sw_strdup(kernel ? kernel : p->kernel);
        f->version = *p->version ? sw_strdup(p->version) : NULL;
    }
    sw_loop_stop(f->conn.loop);
}

static int find_facts(struct preflight *f, struct sw_err *err)
{
    const struct preflight_opts *o = &f->opts;
    if (!o->image && !o->toolkit) {
        f->facts = sw_release_image_facts(NULL, o->kernel, o->os, o->arch);
        f->kernel = sw_strdup(o->kernel);
        return 0;
    }
    struct sw_release_image_read *reading =
        o->image ? sw_release_image_open(f->registries, o->image, o->arch, on_payload, f)
                 : sw_release_image_open_toolkit(f->registries, o->toolkit, o->arch, on_payload, f);
    sw_loop_run(f->conn.loop);
    sw_release_image_close(reading);
    if (f->code == 0 && !f->facts)
        return sw_err_set(err, SW_CANCELED, "interrupted");
    return f->code < 0 ? sw_err_move(err, &f->err) : 0;
}

static void on_report(const struct sw_driver_images_report *r, void *arg)
{
    struct preflight *f = arg;
    f->report = json_object_new_object();
    sw_json_set_str(f->report, f->kernel, "kernel", NULL);
    if (f->version)
        sw_json_set_str(f->report, f->version, "clusterVersion", NULL);
    sw_json_set_str(f->report, r->status, "verificationStatus", NULL);
    sw_json_set_str(f->report, r->reason, "statusReason", NULL);
    sw_json_set(f->report, json_object_get(r->images), "driverContainers", NULL);
    sw_loop_stop(f->conn.loop);
}

/* The values of the command line over those of the resource. */
static int add_values(struct preflight *f, struct sw_err *err)
{
    struct json_object *set = sw_json_find(f->resource, "spec", "set", NULL);
    if (!set)
        return 0;
    SW_AUTO(sw_values) *given = f->opened.values;
    SW_AUTO_JSON *doc = sw_values_json(given);
    f->opened.values = sw_values_new();
    int rc = sw_values_add_json(f->opened.values, set, err);
    return rc == 0 ? sw_values_add_json(f->opened.values, doc, err) : rc;
}

/* Render the recipe for the kernel and look into the images of its driver containers. */
static int check(struct preflight *f, struct sw_err *err)
{
    int rc = sw_recipe_flags_open(&f->opts.recipe, f->source, true, &f->opened, err);
    if (rc == 0)
        rc = add_values(f, err);
    if (rc < 0)
        return rc;
    struct sw_opened_recipe *o = &f->opened;
    struct sw_groups groups;
    sw_facts_groups(f->facts, NULL, NULL, &groups);
    struct json_object *facts = sw_facts_values(
        f->facts, &(struct sw_facts_ask){ .groups = &groups, .resource = f->resource });
    sw_groups_done(&groups);
    if (o->facts) { /* --facts has precedence */
        json_object_object_foreach(o->facts, key, value)
        {
            (void)json_object_object_add(facts, key, json_object_get(value));
        }
    }
    json_object_put(o->facts);
    o->env.facts = o->facts = facts;
    if (!o->env.release)
        o->env.release = sw_recipe_name(o->recipe);
    SW_AUTO(sw_rendered) *rendered = NULL;
    rc = sw_recipe_plan(o->recipe, o->values, &o->env, &o->plan, err);
    if (rc == 0)
        rc = sw_recipe_render(o->plan, &o->env, SW_ALL_STATES, &rendered, err);
    if (rc < 0)
        return rc;
    struct sw_driver_images_ask ask = { .rendered = rendered,
                                        .kernel = f->kernel,
                                        .arch = f->opts.arch,
                                        .ns = f->conn.kube ? f->opts.recipe.namespace : NULL };
    (void)sw_driver_images_open(f->conn.loop, f->opts.offline ? NULL : f->registries, &ask,
                                on_report, f);
    sw_loop_run(f->conn.loop);
    return f->report ? 0 : sw_err_set(err, SW_CANCELED, "interrupted");
}

static int print(struct preflight *f)
{
    const char *status = sw_json_str(f->report, "", "verificationStatus", NULL);
    if (sw_streq(f->opts.output, "json")) {
        (void)sw_cli_print_json(f->report); /* main() checks what was written */
    } else {
        (void)printf("kernel %s%s%s: %s: %s\n", f->kernel, f->version ? ", OpenShift " : "",
                     f->version ? f->version : "", status,
                     sw_json_str(f->report, "", "statusReason", NULL));
        struct json_object *images = sw_json_get(f->report, "driverContainers");
        for (size_t i = 0; i < sw_json_len(images); i++) {
            struct json_object *image = sw_json_at(images, i);
            (void)printf("  %-8s DaemonSet %s: %s\n", sw_json_str(image, "", "status", NULL),
                         sw_json_str(image, "", "daemonSet", NULL),
                         sw_json_str(image, "", "reason", NULL));
        }
    }
    return sw_streq(status, "True") ? SW_EXIT_OK : SW_EXIT_FAILED;
}

static int preflight(struct preflight *f, struct sw_err *err)
{
    bool is_recipe = f->opts.recipe.source.repo || strstr(f->source, "://") ||
                     access(f->source, F_OK) == 0;
    int rc = 0;
    if (!is_recipe)
        rc = find_resource(f, err);
    else if (f->opts.connect.kubeconfig)
        rc = sw_connection_init(&f->conn, "preflight", &f->opts.connect, err);
    if (rc < 0)
        return rc;
    if (!f->conn.loop)
        f->conn.loop = sw_loop_new(NULL);
    f->registries = sw_registries_new(f->conn.loop, f->conn.kube,
                                      &(struct sw_registries_opts){ .conf = f->opts.registries_conf,
                                                                    .ca_file = f->opts.registry_ca,
                                                                    .home_logins = true });
    rc = find_facts(f, err);
    return rc < 0 ? rc : check(f, err);
}

static int execute(const struct sw_call *call)
{
    struct preflight f = { 0 };
    struct sw_operands rest;
    SW_ERR(err);
    sw_log_set_level(SW_LOG_WARN);
    int rc = sw_cli_parse(call, &f.opts, 1, &rest);
    if (rc != 0) {
        rc--; /* --help, or bad usage */
    } else if ((!f.opts.kernel && !f.opts.image && !f.opts.toolkit) ||
               sw_streq(f.opts.kernel, "")) {
        rc = sw_cli_usage("preflight", "expected --kernel, --image or --toolkit");
    } else if (f.opts.offline && (f.opts.image || f.opts.toolkit)) {
        rc = sw_cli_usage("preflight", "--offline cannot look into --image or --toolkit");
    } else {
        f.source = sw_strdup(rest.items[0]);
        rc = preflight(&f, &err) < 0 ? sw_cli_fail("preflight", &err) : print(&f);
    }
    sw_opened_recipe_done(&f.opened);
    sw_registries_free(f.registries);
    sw_facts_free(f.facts);
    json_object_put(f.report);
    free(f.kernel);
    free(f.version);
    free(f.source);
    sw_err_done(&f.err);
    sw_connection_done(&f.conn);
    json_object_put(f.resource);
    sw_recipe_flags_done(&f.opts.recipe);
    return rc;
}

const struct sw_command sw_command_preflight = {
    .name = "preflight",
    .args = "RECIPE|NAME",
    .missing = "which recipe, or which SpecialResource?",
    .summary = "check a recipe's driver containers against another kernel",
    .details =
        "Renders the recipe, or that of a SpecialResource on the cluster, for the kernel, and "
        "checks the\n"
        "images of its driver containers: each must say that it is for that kernel, or be built by "
        "a\n"
        "BuildConfig of its vendor.\n"
        "\n"
        "Exit status: 0 all images fit, 1 one does not (or that is unknown), 2 bad usage or input.",
    .flags = flags,
    .execute = execute,
};
