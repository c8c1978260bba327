#include "slicing/deviceplugin/face.h"

#include <stdlib.h>

#include "data/data.h"
#include "kube/feature_gates/feature_gates.h"

enum { ASK_AGAIN_MS = 5000, CHOOSE_AGAIN_MS = 5 * 60 * 1000 };

struct dp_face_choice {
    struct sw_device_plugin *p;
    struct sw_gates_question *question;
    struct sw_timer *again;
    char *trouble; /* logged last */
};

static void set(struct dp_face_choice *c, enum dp_face face, const char *reason)
{
    struct sw_device_plugin *p = c->p;
    const bool other = p->face != face;
    if (other || !sw_streq(p->face_reason, reason))
        sw_log(SW_LOG_INFO, "interface", "api", face == DP_FACE_DRA ? "dra" : "deviceplugin",
               "reason", reason, NULL);
    sw_text_set(&p->face_reason, reason);
    p->face = face;
    if (p->opts.api == SW_DEVICE_API_AUTO)
        sw_timer_set(c->again, CHOOSE_AGAIN_MS);
    if (other)
        p->changed(p);
}

/* The API server has not said: what is chosen stays. */
static void wait(struct dp_face_choice *c, const char *why)
{
    if (!sw_streq(c->trouble, why))
        sw_log(SW_LOG_WARN, "the API server does not say what it serves", "error", why, NULL);
    sw_text_set(&c->trouble, why);
    sw_timer_set(c->again, ASK_AGAIN_MS);
}

static void on_gates(int code, const struct sw_gates_answer *answer, const struct sw_err *err,
                     void *arg)
{
    struct dp_face_choice *c = arg;
    c->question = NULL;
    if (code < 0)
        wait(c, sw_err_text(err));
    else if (answer->why)
        set(c, DP_FACE_DEVICE_PLUGIN, answer->why);
    else
        set(c, DP_FACE_DRA,
            "resource.k8s.io/v1 has counters in ResourceSlices and extendedResourceName in "
            "DeviceClasses");
}

static void on_again(void *arg)
{
    struct dp_face_choice *c = arg;
    if (c->question)
        return;
    if (c->p->opts.api == SW_DEVICE_API_AUTO)
        c->question = sw_gates_ask(c->p->kube, &(struct sw_gates_ask){ .node = c->p->opts.node },
                                   on_gates, c);
    else
        set(c, c->p->opts.api == SW_DEVICE_API_DRA ? DP_FACE_DRA : DP_FACE_DEVICE_PLUGIN, "--api");
}

struct dp_face_choice *dp_face_choice_new(struct sw_device_plugin *p)
{
    struct dp_face_choice *c = sw_zalloc(1, sizeof *c);
    c->p = p;
    c->again = sw_timer_new(p->loop, on_again, c);
    sw_timer_set(c->again, 0);
    return c;
}

void dp_face_choice_free(struct dp_face_choice *c)
{
    if (!c)
        return;
    sw_gates_cancel(c->question);
    sw_timer_free(c->again);
    free(c->trouble);
    free(c);
}
