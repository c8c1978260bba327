/* Driver toolkits whose tags do not name their kernel: a file in the image does. They are read one
 * after another, and only where a recipe needs them. */
#include "operator/controller/images/images.h"

#include <stdlib.h>

enum { AGAIN_MS = 60000 };

struct toolkits {
    struct sw_controller *c;
    char *image; /* that is being read; NULL: none */
    char *platform;
    struct sw_image_question *question;
    struct sw_timer *timer; /* to try again */
};

void toolkits_close(struct sw_controller *c)
{
    struct toolkits *t = SW_TAKE(images_of(c)->toolkits);
    if (!t)
        return;
    sw_image_question_close(t->question);
    sw_timer_free(t->timer);
    free(t->image);
    free(t->platform);
    free(t);
}

static void settle(struct toolkits *t, const struct sw_toolkit *toolkit, int code,
                   const char *message)
{
    struct sw_controller *c = t->c;
    SW_AUTO_CHARS *image = SW_TAKE(t->image);
    if (!toolkit)
        sw_log(SW_LOG_WARN, "driver toolkit not read", "image", image, "reason", message, NULL);
    if (!toolkit && (code == SW_UNAVAILABLE || code == SW_FORBIDDEN))
        sw_timer_set(t->timer, AGAIN_MS);
    if (sw_facts_put_toolkit(c->facts, image, toolkit, message))
        facts_changed(c);
    plan_resume_all(c);
}

static void on_file(const struct sw_image_answer *a, void *arg)
{
    struct toolkits *t = arg;
    struct sw_toolkit toolkit;
    SW_AUTO_JSON *doc = NULL;
    SW_ERR(err);
    t->question = NULL;
    int rc = a->code;
    if (rc < 0)
        (void)sw_err_set(&err, rc, "%s", a->message);
    else
        rc = sw_toolkit_parse(a->bytes, a->len, &doc, &toolkit, &err);
    settle(t, rc < 0 ? NULL : &toolkit, rc, rc < 0 ? sw_err_text(&err) : NULL);
}

static void on_again(void *arg)
{
    struct toolkits *t = arg;
    sw_facts_forget_toolkits(t->c->facts);
    facts_changed(t->c);
}

bool toolkits_ready(struct resource *r)
{
    struct sw_controller *c = r->c;
    struct sw_groups groups;
    resource_groups(r, &groups);
    const char *image = sw_facts_unknown_toolkit(c->facts, &groups);
    SW_AUTO_CHARS *arch = sw_strdup(groups.n ? groups.items[0]->arch : "amd64");
    sw_groups_done(&groups);
    if (!image || !c->registries)
        return true;
    struct toolkits *t = images_of(c)->toolkits;
    if (!t) {
        t = images_of(c)->toolkits = sw_zalloc(1, sizeof *t);
        t->c = c;
        t->timer = sw_timer_new(c->loop, on_again, t);
    }
    if (t->image)
        return false; /* one at a time */
    free(t->platform);
    t->image = sw_strdup(image);
    t->platform = sw_printf("linux/%s", *arch ? arch : "amd64");
    t->question = sw_registries_ask(c->registries,
                                    &(struct sw_image_ask){ .image = t->image,
                                                            .platform = t->platform,
                                                            .scope = SW_ACCESS_ALL,
                                                            .path = SW_TOOLKIT_FILE,
                                                            .last_layer_only = true },
                                    on_file, t);
    return false;
}
