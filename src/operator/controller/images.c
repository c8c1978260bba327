/* Is the image of a driver container there? Asked before its DaemonSet is touched, so that a new
 * kernel for which nobody has pushed an image yet breaks nothing and is built for instead. */
#include "operator/controller/internal.h"
#include "operator/registries/registries.h"

#include <stdlib.h>
#include <string.h>

enum { AGAIN_MS = 60000, HERE_MS = 600000, MAX_CHECKS = 256 };

struct image_check {
    struct sw_controller *c;
    struct image_check *next;
    char *image, *ns, *platform;
    struct sw_access *access;
    struct sw_registry_call *call;
    bool answered;
    enum sw_access_scope wants; /* of the cluster's settings for registries */
    int code;                   /* 0: there, or nobody can tell | SW_NOTFOUND */
    char *words;
    int64_t at_ms;
};

struct images {
    struct image_check *checks;
    int n;
    struct sw_timer *timer;
    struct sw_access *mirrors; /* they are being read */
    bool no_mirrors;           /* they cannot be */
};

static void ask(struct image_check *k);

static void check_free(struct image_check *k)
{
    sw_access_close(k->access);
    sw_registry_cancel(k->call);
    free(k->image);
    free(k->ns);
    free(k->platform);
    free(k->words);
    free(k);
}

void images_close(struct sw_controller *c)
{
    for (struct image_check *k = c->images ? c->images->checks : NULL, *next; k; k = next) {
        next = k->next;
        check_free(k);
    }
    if (c->images) {
        sw_timer_free(c->images->timer);
        sw_access_close(c->images->mirrors);
    }
    free(SW_TAKE(c->images));
}

/* Renders that waited for it go on; others come to look when it is another answer than before. */
static void tell(struct sw_controller *c, bool changed)
{
    for (struct resource *r = c->resources, *next; r; r = next) {
        next = r->next;
        render_resume(r);
        if (changed && r->started)
            resource_step(r, &(struct sw_event){ .kind = SW_EV_FACTS });
    }
}

static void settle(struct image_check *k, int code, const char *words)
{
    struct sw_controller *c = k->c;
    bool missing = code == SW_NOTFOUND;
    bool changed = k->answered && k->code != (missing ? SW_NOTFOUND : 0);
    if (code < 0 && !missing)
        sw_log(SW_LOG_INFO, "image not checked", "image", k->image, "reason", words, NULL);
    k->answered = true;
    k->code = missing ? SW_NOTFOUND : 0;
    k->at_ms = sw_loop_now_ms(c->loop);
    free(k->words);
    k->words = sw_strdup(words ? words : "");
    if (missing && !sw_timer_is_set(c->images->timer))
        sw_timer_set(c->images->timer, AGAIN_MS);
    tell(c, changed);
}

static void on_checked(const struct sw_registry_answer *a, void *arg)
{
    struct image_check *k = arg;
    k->call = NULL;
    if ((a->code == SW_FORBIDDEN && k->wants < SW_ACCESS_LOGIN) ||
        (a->code == SW_INVALID && k->wants < SW_ACCESS_ALL)) {
        /* somebody may have a login or a CA for it there */
        k->wants = a->code == SW_FORBIDDEN ? SW_ACCESS_LOGIN : SW_ACCESS_ALL;
        ask(k);
        return;
    }
    settle(k, a->code, a->code < 0 ? sw_err_text(a->err) : NULL);
}

static void on_access(int code, const char *words, struct sw_registry *registry,
                      struct sw_logins *logins, void *arg)
{
    struct image_check *k = arg;
    k->access = NULL;
    if (code < 0)
        settle(k, code, words);
    else
        k->call = sw_registry_check(registry,
                                    &(struct sw_registry_ask){ .image = k->image,
                                                               .logins = logins,
                                                               .platform = k->platform },
                                    on_checked, k);
}

static void ask(struct image_check *k)
{
    if (k->access || k->call)
        return;
    k->access = sw_access_open(k->c->registries, k->ns, k->wants, on_access, k);
}

static void on_timer(void *arg)
{
    struct sw_controller *c = arg;
    for (struct image_check *k = c->images->checks; k; k = k->next)
        if (k->answered && k->code == SW_NOTFOUND)
            ask(k);
}

static struct image_check *find(struct sw_controller *c, const char *ns, const char *image,
                                const char *platform)
{
    for (struct image_check *k = c->images->checks; k; k = k->next)
        if (sw_streq(k->image, image) && sw_streq(k->ns, ns) && sw_streq(k->platform, platform))
            return k;
    return NULL;
}

/* The oldest answer makes room. */
static void make_room(struct images *all)
{
    struct image_check **oldest = NULL;
    for (struct image_check **at = &all->checks; *at; at = &(*at)->next)
        if ((*at)->answered && !(*at)->access && !(*at)->call)
            oldest = at; /* newer ones stand before it */
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
    make_room(c->images);
    *k = (struct image_check){ .c = c,
                               .next = c->images->checks,
                               .image = sw_strdup(image),
                               .ns = sw_strdup(ns),
                               .platform = sw_strdup(platform),
                               .wants = sw_access_is_internal(image) ? SW_ACCESS_NAMESPACE
                                                                     : SW_ACCESS_ALL };
    c->images->checks = k;
    c->images->n++;
    return k;
}

static void need_images(struct sw_controller *c)
{
    if (c->images)
        return;
    c->images = sw_zalloc(1, sizeof *c->images);
    c->images->timer = sw_timer_new(c->loop, on_timer, c);
}

static void on_mirrors(int code, const char *words, struct sw_registry *registry SW_UNUSED,
                       struct sw_logins *logins SW_UNUSED, void *arg)
{
    struct sw_controller *c = arg;
    c->images->mirrors = NULL;
    c->images->no_mirrors = code < 0;
    if (code < 0)
        sw_log(SW_LOG_WARN, "mirrors not read", "error", words, NULL);
    tell(c, false);
}

int images_mirrors(struct sw_controller *c, const struct sw_mirrors **out)
{
    *out = c->registries ? sw_registries_mirrors(c->registries) : NULL;
    if (*out || !c->registries)
        return 0;
    need_images(c);
    if (c->images->no_mirrors)
        return 0;
    if (!c->images->mirrors)
        c->images->mirrors = sw_access_open(c->registries, NULL, SW_ACCESS_ALL, on_mirrors, c);
    return SW_PENDING;
}

int images_find(struct sw_controller *c, const char *ns, const char *image, const char *arch,
                const char **words)
{
    if (!c->registries || !*image)
        return 0;
    need_images(c);
    SW_AUTO_CHARS *platform = sw_printf("linux/%s", *arch ? arch : "amd64");
    struct image_check *k = find(c, ns, image, platform);
    int64_t now_ms = sw_loop_now_ms(c->loop);
    bool stale = k && k->answered && !k->code && now_ms - k->at_ms > HERE_MS;
    if (!k)
        k = add(c, ns, image, platform);
    if (!k->answered || stale)
        ask(k);
    *words = k->words;
    return k->answered ? k->code : SW_PENDING;
}
