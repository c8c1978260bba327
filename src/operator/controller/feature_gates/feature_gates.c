/* feature_gates: which feature gates of Dynamic Resource Allocation the API server has on, for
 * recipes that ask for them (.Values.featureGates). They are asked for once, as the account of a
 * resource with such a recipe, and again whenever the server may have been restarted with others:
 * when watches that broke off are answered again. A resource whose account may not ask goes by what
 * others have found out, or without. */
#include "kube/feature_gates/feature_gates.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/loop.h"
#include "data/data.h"
#include "operator/controller/capability.h"
#include "operator/controller/core.h"

static const char *const words[] = { SW_FACT_FEATURE_GATES, NULL };

/* A server that has just been started may refuse what it allows a second later. */
enum { AGAIN_MS = 5000, REFUSED_AGAIN_MS = 1000, REFUSED_MOST = 3 };

struct gates {
    struct sw_gates_question *question;
    struct sw_timer *again;      /* when the next question may be asked */
    char *account;               /* the last one's; NULL: the controller's own */
    int n_refused;               /* times in a row */
    struct json_object *refused; /* accounts that may not ask, as keys */
    bool is_told;                /* that they are not known, since the last answer */
    bool known;                  /* the server has answered since it was started */
};

static struct gates *gates_of(const struct sw_controller *c)
{
    return c->state[CAPABILITY_feature_gates];
}

static bool is_refused(const struct sw_gates_answer *answer)
{
    for (size_t i = 0; i < SW_N_FEATURE_GATES; i++)
        if (answer->gates[i] == SW_GATE_UNKNOWN)
            return true;
    return false;
}

static void on_answer(struct sw_controller *c, const struct sw_gates_answer *answer)
{
    struct gates *g = gates_of(c);
    const bool refused = is_refused(answer);
    bool changed = false;
    for (size_t i = 0; i < SW_N_FEATURE_GATES; i++)
        if (answer->gates[i] != SW_GATE_UNKNOWN)
            changed |= sw_facts_set_feature_gate(c->facts, sw_feature_gate_names[i],
                                                 answer->gates[i] == SW_GATE_ON);
    if (refused || changed)
        sw_log(refused ? SW_LOG_WARN : SW_LOG_INFO,
               refused ? "feature gates cannot be asked for" : "feature gates", "why",
               sw_text_or(answer->why, "all are on"), "as", sw_text_or(g->account, ""), NULL);
    if (refused && !g->known)
        (void)json_object_object_add(g->refused, sw_text_or(g->account, ""),
                                     json_object_new_boolean(true));
    g->known |= !refused;
    g->n_refused = 0;
    if (changed)
        facts_changed(c);
}

static void on_gates(int code, const struct sw_gates_answer *answer, const struct sw_err *err,
                     void *arg)
{
    struct sw_controller *c = arg;
    struct gates *g = gates_of(c);
    g->question = NULL;
    if (code < 0)
        sw_timer_set(g->again, AGAIN_MS);
    else if (is_refused(answer) && ++g->n_refused < REFUSED_MOST)
        sw_timer_set(g->again, REFUSED_AGAIN_MS);
    else
        on_answer(c, answer);
    if (code < 0) /* nothing that depends on them is walked before; told once */
        sw_log(g->is_told ? SW_LOG_DEBUG : SW_LOG_WARN,
               "feature gates are not known yet, which the recipe asks for", "error",
               sw_err_text(err), NULL);
    g->is_told = code < 0;
    plan_resume_all(c);
}

static void ask(struct sw_controller *c)
{
    struct gates *g = gates_of(c);
    if (!g->question)
        g->question = sw_gates_ask(
            c->kube,
            &(struct sw_gates_ask){ .as_user = g->account, .purpose = sw_purpose_by(g->account) },
            on_gates, c);
}

static void on_again(void *arg)
{
    struct sw_controller *c = arg;
    if (gates_of(c)->known)
        ask(c);
    else
        plan_resume_all(c);
}

static bool facts_ready(struct resource *r, bool so_far SW_UNUSED)
{
    struct gates *g = gates_of(r->c);
    const char *account = resource_account_now(r);
    if (g->known || !resource_mentions(r, words) ||
        sw_json_get(g->refused, sw_text_or(account, "")))
        return true;
    if (g->question || sw_timer_is_set(g->again))
        return false;
    if (!sw_streq(g->account, account))
        g->n_refused = 0;
    sw_text_set(&g->account, account);
    ask(r->c);
    return false;
}

static void forget_refused(struct gates *g)
{
    g->n_refused = 0;
    json_object_put(g->refused);
    g->refused = json_object_new_object();
}

/* What is known counts until the server says otherwise. */
static void server_ready(struct sw_controller *c)
{
    struct gates *g = gates_of(c);
    forget_refused(g);
    if (g->known && !sw_timer_is_set(g->again))
        ask(c);
}

static void open(struct sw_controller *c)
{
    struct gates *g = gates_of(c);
    g->again = sw_timer_new(c->loop, on_again, c);
    forget_refused(g);
}

static void stop(struct sw_controller *c)
{
    struct gates *g = gates_of(c);
    sw_gates_cancel(SW_TAKE(g->question));
    sw_timer_stop(g->again);
    forget_refused(g);
    g->known = false;
}

static void close(struct sw_controller *c)
{
    struct gates *g = gates_of(c);
    sw_timer_free(g->again);
    json_object_put(g->refused);
    free(g->account);
}

const struct capability capability_feature_gates = {
    .name = "feature_gates",
    .summary = "recipes are told which feature gates the API server has on",
    .controller_size = sizeof(struct gates),
    .words = words,
    .open = open,
    .server_ready = server_ready,
    .stop = stop,
    .close = close,
    .facts_ready = facts_ready,
};
