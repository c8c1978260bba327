/* Does the image of a driver container exist? Checked before its DaemonSet is applied: for a new
 * kernel there may be no image yet, and it has to be built first. */
#include "operator/controller/images/images.h"

#include <stdlib.h>
#include <string.h>

#include "operator/engine/readiness/pod_maker.h"
#include "operator/manifests/related_images.h"

enum { AGAIN_MS = 60000, HERE_MS = 600000, MAX_CHECKS = 256 };

struct image_check {
    struct sw_controller *c;
    struct image_check *next;
    char *image, *ns, *platform;
    struct sw_image_question *question;
    bool answered;
    enum sw_access_scope scope; /* which logins and CAs of the cluster are used */
    int code;                   /* 0: it exists, or that is not known | SW_NOTFOUND */
    char *message;
    int64_t at_ms;
};

static void check(struct image_check *k);

static void check_free(struct image_check *k)
{
    sw_image_question_close(k->question);
    free(k->image);
    free(k->ns);
    free(k->platform);
    free(k->message);
    free(k);
}

/* Renders that wait go on; where the answer has changed, all is rendered again. */
static void resume(struct sw_controller *c, bool changed)
{
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        render_resume(r);
        if (changed && r->started)
            resource_render_again(r);
    }
}

static void settle(struct image_check *k, int code, const char *message)
{
    struct sw_controller *c = k->c;
    bool missing = code == SW_NOTFOUND;
    bool changed = k->answered && k->code != (missing ? SW_NOTFOUND : 0);
    if (code < 0 && !missing)
        sw_log(SW_LOG_INFO, "image not checked", "image", k->image, "reason", message, NULL);
    k->answered = true;
    k->code = missing ? SW_NOTFOUND : 0;
    k->at_ms = sw_loop_now_ms(c->loop);
    sw_text_set(&k->message, message ? message : "");
    if (missing && !sw_timer_is_set(images_of(c)->timer))
        sw_timer_set(images_of(c)->timer, AGAIN_MS);
    resume(c, changed);
}

static void on_checked(const struct sw_image_answer *a, void *arg)
{
    struct image_check *k = arg;
    k->question = NULL;
    if ((a->code == SW_FORBIDDEN && k->scope < SW_ACCESS_LOGIN) ||
        (a->code == SW_INVALID && k->scope < SW_ACCESS_ALL)) {
        k->scope = a->code == SW_FORBIDDEN ? SW_ACCESS_LOGIN : SW_ACCESS_ALL;
        check(k);
        return;
    }
    settle(k, a->code, a->code < 0 ? a->message : NULL);
}

static void check(struct image_check *k)
{
    if (!k->question)
        k->question = sw_registries_ask(
            k->c->registries,
            &(struct sw_image_ask){
                .image = k->image, .ns = k->ns, .platform = k->platform, .scope = k->scope },
            on_checked, k);
}

static void on_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct image_check *k = images_of(c)->checks; k; k = k->next)
        if (k->answered && k->code == SW_NOTFOUND)
            check(k);
}

/* Where there are too many, free the oldest check that has its answer. */
static void make_room(struct images *all)
{
    struct image_check **oldest = NULL;
    for (struct image_check **at = &all->checks; *at; at = &(*at)->next)
        if ((*at)->answered && !(*at)->question)
            oldest = at; /* newer ones come before it */
    if (all->n < MAX_CHECKS || !oldest)
        return;
    struct image_check *k = *oldest;
    *oldest = k->next;
    check_free(k);
    all->n--;
}

static struct image_check *add(struct sw_controller *c, const char *ns, const char *image,
                               const char *platform)
{
    struct image_check *k = sw_zalloc(1, sizeof *k);
    make_room(images_of(c));
    *k = (struct image_check){ .c = c,
                               .next = images_of(c)->checks,
                               .image = sw_strdup(image),
                               .ns = sw_strdup(ns),
                               .platform = sw_strdup(platform),
                               .scope = sw_image_is_internal(image) ? SW_ACCESS_NAMESPACE
                                                                    : SW_ACCESS_ALL };
    images_of(c)->checks = k;
    images_of(c)->n++;
    return k;
}

static void on_mirrors(int code, const char *message, void *arg)
{
    struct sw_controller *c = arg;
    images_of(c)->mirrors = NULL;
    images_of(c)->no_mirrors = code < 0;
    if (code < 0)
        sw_log(SW_LOG_WARN, "mirrors not read", "error", message, NULL);
    resume(c, false);
}

/* The mirrors of the cluster's settings, borrowed until the next render; NULL: none are known. */
static int find_mirrors(struct sw_controller *c, const struct sw_mirrors **out)
{
    struct images *all = images_of(c);
    *out = c->registries ? sw_registries_mirrors(c->registries) : NULL;
    if (*out || !c->registries || all->no_mirrors)
        return 0;
    if (!all->mirrors)
        all->mirrors = sw_registries_read(c->registries, on_mirrors, c);
    return SW_PENDING;
}

/* @return 0: the image exists, or that cannot be found out | SW_NOTFOUND: *@message, borrowed, says
 * what is missing | SW_PENDING: render_resume() will be called */
static int find_image(struct sw_controller *c, const char *ns, const char *image, const char *arch,
                      const char **message)
{
    if (!c->registries || !*image)
        return 0;
    if (!images_of(c)->timer)
        images_of(c)->timer = sw_timer_new(c->loop, on_timer, c);
    SW_AUTO_CHARS *platform = sw_printf("linux/%s", *arch ? arch : "amd64");
    struct image_check *k = images_of(c)->checks;
    while (k &&
           !(sw_streq(k->image, image) && sw_streq(k->ns, ns) && sw_streq(k->platform, platform)))
        k = k->next;
    int64_t now_ms = sw_loop_now_ms(c->loop);
    bool stale = k && k->answered && !k->code && now_ms - k->at_ms > HERE_MS;
    if (!k)
        k = add(c, ns, image, platform);
    if (!k->answered || stale)
        check(k);
    *message = k->message;
    return k->answered ? k->code : SW_PENDING;
}

/* ---- renders ------------------------------------------------------------------------------------
 */

/* The cluster's mirrors, where the manifest is to use them. */
static int hook_env(struct resource *r, struct render *w, struct json_object *doc,
                    struct sw_hook_env *env, struct sw_err *err)
{
    static const char *const kinds[] = { "BuildConfig", "ClusterPolicy", "NVIDIADriver" };
    bool has_images = sw_pod_template(doc);
    for (size_t i = 0; i < SW_COUNT(kinds); i++)
        has_images |= sw_streq(sw_obj_kind(doc), kinds[i]);
    env->mirror = r->c->opts.mirror;
    if (!has_images || !sw_streq(sw_mirror_rules(doc, r->doc, env->mirror), SW_MIRROR_CLUSTER) ||
        find_mirrors(r->c, &env->mirrors) != SW_PENDING)
        return 0;
    if (w)
        render_wait(w);
    return sw_err_set(err, SW_PENDING, "the cluster's mirrors are being read");
}

/* The first image of @doc's pods that is missing. @return 0 | SW_PENDING: a check is under way */
static int find_missing(struct resource *r, struct json_object *doc, const struct sw_group *group,
                        char **missing)
{
    struct json_object *pod = sw_pod_template(doc), *container;
    int rc = 0;
    for (size_t i = 0; (container = sw_pod_container(pod, i)); i++) {
        const char *message = "";
        const char *image = sw_json_str(container, "", "image", NULL);
        int found = find_image(r->c, resource_namespace(r), image, group->arch, &message);
        if (found == SW_PENDING)
            rc = SW_PENDING;
        else if (found == SW_NOTFOUND && !*missing)
            *missing = sw_strdup(message);
    }
    return rc;
}

/* An object for one kernel fails, for its group of nodes alone, where its state mentions driver
 * toolkits and there is none, or where it is a driver container whose image is missing. */
static int object_rendered(struct resource *r, struct render *w, struct render_item *item,
                           struct sw_err *err)
{
    struct json_object *doc = item->object->doc;
    if (!item->kernel_affine)
        return 0;
    const struct sw_group *group = render_group(w);
    if (group &&
        (render_mentions(w, "driverToolkitImage") || render_mentions(w, "clusterUpgradeInfo")))
        item->object->missing = sw_facts_lacks_toolkit(r->c->facts, group);
    if (item->object->missing || !item->group || !sw_streq(sw_obj_kind(doc), "DaemonSet") ||
        !sw_streq(sw_obj_annotation(doc, SW_SRO_PREFIX "state"), "driver-container"))
        return 0;
    SW_AUTO_CHARS *missing = NULL;
    if (find_missing(r, doc, item->group, &missing) == SW_PENDING) {
        render_wait(w);
        return sw_err_set(err, SW_PENDING, "its image is being looked for");
    }
    item->object->missing = SW_TAKE(missing);
    return 0;
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static const char *const toolkit[] = { "driverToolkitImage", "clusterUpgradeInfo", NULL };

static bool facts_ready(struct resource *r, bool so_far)
{
    if (!cluster_is_openshift(r->c) || !resource_mentions(r, toolkit))
        return true;
    return so_far && toolkits_ready(r); /* which depend on the other facts */
}

static void add_values(struct resource *r, struct json_object *values)
{
    struct json_object *related = images_of(r->c)->related;
    if (related)
        sw_json_set(values, json_object_get(related), "global", "relatedImages", NULL);
}

static void images_open(struct sw_controller *c)
{
    images_of(c)->related = sw_related_images();
}

static void images_close(struct sw_controller *c)
{
    struct images *all = images_of(c);
    for (struct image_check *k = all->checks, *next; k; k = next) {
        next = k->next;
        check_free(k);
    }
    sw_timer_free(all->timer);
    sw_access_close(all->mirrors);
    json_object_put(all->related);
    toolkits_close(c);
}

const struct capability capability_images = {
    .name = "images",
    .summary =
        "image registries: mirrors, driver toolkits, whether driver containers have an image",
    .controller_size = sizeof(struct images),
    .open = images_open,
    .add_values = add_values,
    .facts_ready = facts_ready,
    .hook_env = hook_env,
    .object_rendered = object_rendered,
    .close = images_close,
};
