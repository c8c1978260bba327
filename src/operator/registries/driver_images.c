/* Driver containers against a kernel that no node runs yet. */
#include "operator/registries/driver_images.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "chart/recipe/recipe.h"
#include "data/data.h"
#include "operator/engine/readiness/pod_maker.h"
#include "operator/facts/facts.h"
#include "operator/manifests/hooks.h"
#include "operator/registries/registries.h"

#define VENDOR SW_SRO_PREFIX "driver-container-vendor"
/* "CONTAINER" or "CONTAINER JOB": a container of the DaemonSet whose image is for one kernel
 * because its name says so, and the recipe's Job that makes the image where it is not there. */
#define DRIVER_IMAGE "slipway.dev/driver-image"

struct sw_driver_images {
    struct sw_registries *registries;
    sw_driver_images_fn *fn;
    void *arg;
    char *kernel, *platform, *ns;
    struct json_object *images; /* the report's */
    size_t at;                  /* index of the one that is being read */
    size_t n_drivers;
    bool built; /* each of them has a BuildConfig */
    struct sw_timer *timer;
    struct sw_image_question *question;
};

void sw_driver_images_close(struct sw_driver_images *p)
{
    if (!p)
        return;
    sw_image_question_close(p->question);
    sw_timer_free(p->timer);
    json_object_put(p->images);
    free(p->kernel);
    free(p->platform);
    free(p->ns);
    free(p);
}

/* ---- the report --------------------------------------------------------------------------------
 */

static void answer(struct sw_driver_images *p)
{
    static const char *const order[] = { "Error", "False", "Unknown" };
    struct json_object *worst = NULL; /* the first image of the worst status decides */
    for (size_t o = 0; !worst && o < SW_COUNT(order); o++)
        worst = sw_json_find_by(p->images, "status", order[o]);
    SW_AUTO_CHARS *reason =
        worst ? sw_printf("DaemonSet %s: %s", sw_json_str(worst, "", "daemonSet", NULL),
                          sw_json_str(worst, "", "reason", NULL))
        : !p->n_drivers
            ? sw_strdup("the recipe has no driver container: nothing depends on the kernel")
        : p->built ? sw_strdup("each driver container has a BuildConfig of its vendor, or a Job")
                   : sw_printf("verified: there are driver containers for kernel %s", p->kernel);
    SW_AUTO_JSON *images = json_object_get(p->images);
    struct sw_driver_images_report report = {
        .status = worst ? sw_json_str(worst, "", "status", NULL) : "True",
        .reason = reason,
        .images = images,
    };
    sw_driver_images_fn *fn = p->fn;
    void *arg = p->arg;
    sw_driver_images_close(p);
    fn(&report, arg);
}

static void next(struct sw_driver_images *p);

/* Note the result of the present image, and go on to the next. */
static void __attribute__((format(printf, 3, 4)))
settle(struct sw_driver_images *p, const char *status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    SW_AUTO_CHARS *reason = sw_vprintf(fmt, ap);
    va_end(ap);
    struct json_object *entry = sw_json_at(p->images, p->at++);
    sw_json_set_str(entry, status, "status", NULL);
    sw_json_set_str(entry, reason, "reason", NULL);
    next(p);
}

/* ---- an image ----------------------------------------------------------------------------------
 */

/* An image whose name says for which kernel it is: it has to be there, no more. */
static void on_existence(const struct sw_image_answer *a, void *arg)
{
    struct sw_driver_images *p = arg;
    p->question = NULL;
    const char *image = sw_json_str(sw_json_at(p->images, p->at), "", "image", NULL);
    if (a->code < 0)
        settle(p, "False", "image %s is not accessible: %s", image, a->message);
    else
        settle(p, "True", "image %s is there", image);
}

static void on_file(const struct sw_image_answer *a, void *arg)
{
    struct sw_driver_images *p = arg;
    p->question = NULL;
    const char *image = sw_json_str(sw_json_at(p->images, p->at), "", "image", NULL);
    struct sw_toolkit toolkit;
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    if (a->code == SW_NOTFOUND && strstr(a->message, " has no " SW_TOOLKIT_FILE))
        settle(p, "False", "image %s does not say for which kernel it is: no layer has %s", image,
               SW_TOOLKIT_FILE);
    else if (a->code < 0 && strstr(a->message, "layer"))
        settle(p, "False", "image %s: a layer is not accessible: %s", image, a->message);
    else if (a->code < 0)
        settle(p, "False", "image %s is not accessible: %s", image, a->message);
    else if (sw_toolkit_parse(a->bytes, a->len, &doc, &toolkit, &err) < 0)
        settle(p, "False", "image %s: %s", image, sw_err_text(&err));
    else if (!sw_toolkit_fits(&toolkit, p->kernel))
        settle(p, "False", "image %s is for kernel %s, not for %s", image,
               *toolkit.kernel ? toolkit.kernel : toolkit.rt_kernel, p->kernel);
    else
        settle(p, "True", "image %s is for kernel %s", image, p->kernel);
}

static void inspect(struct sw_driver_images *p)
{
    struct json_object *entry = sw_json_at(p->images, p->at);
    const bool named = sw_json_get(entry, "container") != NULL;
    p->question = sw_registries_ask(
        p->registries,
        &(struct sw_image_ask){ .image = sw_json_str(entry, "", "image", NULL),
                                .ns = p->ns,
                                .platform = p->platform,
                                .scope = SW_ACCESS_ALL,
                                .path = named ? NULL : SW_TOOLKIT_FILE },
        named ? on_existence : on_file, p);
}

static void next(struct sw_driver_images *p)
{
    while (sw_json_get(sw_json_at(p->images, p->at), "status"))
        p->at++;
    if (p->at >= sw_json_len(p->images))
        answer(p);
    else if (!p->registries)
        settle(p, "Unknown", "nothing was asked of a registry; image %s has to be for kernel %s",
               sw_json_str(sw_json_at(p->images, p->at), "", "image", NULL), p->kernel);
    else
        inspect(p);
}

static void on_timer(void *arg)
{
    next(arg);
}

/* ---- what was rendered -------------------------------------------------------------------------
 */

static bool has_build(const struct sw_rendered *rendered, const char *vendor)
{
    for (size_t i = 0; vendor && i < sw_rendered_n_manifests(rendered); i++) {
        struct json_object *doc = sw_rendered_manifest(rendered, i)->doc;
        if (sw_streq(sw_obj_kind(doc), "BuildConfig") &&
            sw_streq(sw_obj_annotation(doc, VENDOR), vendor))
            return true;
    }
    return false;
}

static bool has_job(const struct sw_rendered *rendered, const char *name)
{
    for (size_t i = 0; i < sw_rendered_n_manifests(rendered); i++) {
        struct json_object *doc = sw_rendered_manifest(rendered, i)->doc;
        if (sw_streq(sw_obj_kind(doc), "Job") && sw_streq(sw_obj_name(doc), name))
            return true;
    }
    return false;
}

/* The driver's image: of the container that DRIVER_IMAGE names, else of the first. @job: the Job
 * that it names; heap, or NULL. */
static void put_image(struct json_object *doc, struct json_object *entry, char **job)
{
    struct json_object *spec = sw_json_get(sw_pod_template(doc), "spec");
    SW_AUTO_CHARS *container = sw_strdup(sw_obj_annotation(doc, DRIVER_IMAGE));
    struct json_object *found = NULL;
    if (container) {
        char *space = strchr(container, ' ');
        *job = space ? sw_strdup(space + 1) : NULL;
        if (space)
            *space = '\0';
        found = sw_json_find_by(sw_json_get(spec, "initContainers"), "name", container);
        found = found ? found : sw_json_find_by(sw_json_get(spec, "containers"), "name", container);
        sw_json_set_str(entry, container, "container", NULL);
    }
    if (!found)
        found = sw_json_at(sw_json_get(spec, "containers"), 0);
    sw_json_set_str(entry, sw_json_str(found, "", "image", NULL), "image", NULL);
}

struct sw_driver_images *sw_driver_images_open(struct sw_loop *loop,
                                               struct sw_registries *registries,
                                               const struct sw_driver_images_ask *ask,
                                               sw_driver_images_fn *fn, void *arg)
{
    struct sw_driver_images *p = sw_zalloc(1, sizeof *p);
    *p = (struct sw_driver_images){ .registries = registries,
                                    .fn = fn,
                                    .arg = arg,
                                    .kernel = sw_strdup(ask->kernel),
                                    .platform = sw_printf("linux/%s",
                                                          ask->arch ? ask->arch : "amd64"),
                                    .ns = sw_strdup(ask->ns),
                                    .images = json_object_new_array(),
                                    .built = true };
    for (size_t i = 0; i < sw_rendered_n_manifests(ask->rendered); i++) {
        SW_AUTO_JSON *doc = json_object_get(sw_rendered_manifest(ask->rendered, i)->doc);
        if (!sw_streq(sw_obj_kind(doc), "DaemonSet") ||
            !sw_streq(sw_obj_annotation(doc, SW_SRO_PREFIX "state"), "driver-container"))
            continue;
        struct json_object *entry = json_object_new_object();
        SW_AUTO_CHARS *job = NULL;
        sw_json_set_str(entry, sw_obj_name(doc), "daemonSet", NULL);
        put_image(doc, entry, &job);
        p->n_drivers++;
        if (has_build(ask->rendered, sw_obj_annotation(doc, VENDOR))) {
            sw_json_set_str(entry, "True", "status", NULL);
            sw_json_set_str(entry, "a BuildConfig of its vendor makes the image", "reason", NULL);
        } else if (job && has_job(ask->rendered, job)) {
            SW_AUTO_CHARS *reason = sw_printf("Job %s makes the image where it is not there", job);
            sw_json_set_str(entry, "True", "status", NULL);
            sw_json_set_str(entry, reason, "reason", NULL);
        } else {
            p->built = false;
        }
        (void)json_object_array_add(p->images, entry);
    }
    p->timer = sw_timer_new(loop, on_timer, p);
    sw_timer_set(p->timer, 0);
    return p;
}
