#include "kube/metrics/access.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/data.h"
#include "data/json/hash.h"
#include "kube/config/kubeconfig.h"
#include "kube/kube.h"
#include "kube/review.h"
#include "net/serve/serve.h"

enum {
    MAX_ANSWERS = 32, /* that are kept, or asked for */
    MAX_ASKED = 6,    /* questions of strangers under way */
    MAX_WAITING = 64, /* requests that wait for an answer */
    /* Of strangers, one after the other: so many at once, then one in this time. Who was allowed
     * before is not counted, so that nobody's guesses keep Prometheus out. */
    BURST = 16,
    REFILL_MS = 250,
    /* Nor is an address of which no stranger's question came for so long counted with those that
     * guess: a token is a new one every hour. The last addresses are remembered. */
    FRESH_MS = 60 * 1000,
    FRESH_ASKED = 2, /* questions of theirs beside MAX_ASKED */
    MAX_ASKERS = 64,
    ALLOWED_MS = 60 *
                 1000, /* how long an answer counts; controller-runtime: a token for a minute */
    DENIED_MS = 30 * 1000,
    UNKNOWN_MS = 10 * 1000,
    QUESTION_MS = 5 * 1000,
    MAX_TOKEN = 8 * 1024,
    MAX_USER = 256, /* of a name, in messages */
};

enum state {
    ASKING,
    FAILED,  /* no answer: it is asked again */
    UNKNOWN, /* 401 */
    DENIED,  /* 403 */
    ALLOWED,
};

struct waiting {
    struct sw_serve_reply *reply;
    sw_access_fn *allowed;
    void (*forget)(void *arg);
    void (*identify)(struct json_object *user, void *arg);
    void *arg;
    struct waiting *next;
};

/** One answer of the API server, or one that it is asked for. */
struct answer {
    struct sw_access *access;
    uint8_t key[SW_SHA256_LEN]; /* of token, verb and path: the token is not kept */
    enum state state;
    bool was_allowed;
    int64_t until_ms, used_ms;
    char *verb, *path, *user;
    struct json_object *who; /* as the TokenReview has it */
    struct sw_kube_request *request;
    struct waiting *waiting;
};

/** An address of which a stranger's question was passed on. */
struct asker {
    uint8_t address[SW_SERVE_ADDRESS_LEN];
    int64_t asked_ms; /* the last one; 0: the place is free */
};

struct sw_access {
    struct sw_access_opts opts;
    struct sw_kube *kube; /* NULL: not made yet */
    bool own_kube;
    bool troubled; /* that it cannot ask was logged */
    struct answer *answers[MAX_ANSWERS];
    size_t n_waiting, n_asked;
    struct asker askers[MAX_ASKERS];
    int64_t credit_ms, fresh_credit_ms; /* strangers may ask when this is over */
};

static const struct sw_kind token_reviews = { .group = "authentication.k8s.io",
                                              .version = "v1",
                                              .api_version = "authentication.k8s.io/v1",
                                              .kind = "TokenReview",
                                              .plural = "tokenreviews" };
static const struct sw_request_opts question = { .timeout_ms = QUESTION_MS,
                                                 .ahead = true,
                                                 .purpose = "reviews" };

/* ---- answers -----------------------------------------------------------------------------------
 */

static void answer_free(struct answer *a)
{
    free(a->verb);
    free(a->path);
    free(a->user);
    json_object_put(a->who);
    free(a);
}

static void tell(const struct answer *a, enum state state, const struct waiting *w)
{
    SW_AUTO_CHARS *text = NULL;
    struct sw_serve_reply *reply = w->reply;
    if (state != ALLOWED && w->forget)
        w->forget(w->arg);
    switch (state) {
    case ALLOWED:
        if (w->identify)
            w->identify(a->who, w->arg);
        w->allowed(reply, w->arg);
        return;
    case DENIED:
        text = sw_printf("Authorization denied for user %s\n", a->user);
        sw_serve_text(reply, 403, text);
        return;
    case UNKNOWN:
        sw_serve_text(reply, 401, "Unauthorized\n");
        return;
    default:
        sw_serve_text(reply, 503, "the API server cannot be asked\n");
        return;
    }
}

/* The API server was asked, and has answered or not. */
static void settle(struct answer *a, enum state state)
{
    struct sw_access *x = a->access;
    const int64_t now_ms = sw_loop_now_ms(x->opts.loop);
    x->n_asked -= !a->was_allowed;
    a->request = NULL;
    a->state = state;
    a->was_allowed = state == ALLOWED || (state == FAILED && a->was_allowed);
    a->until_ms = now_ms + (state == ALLOWED   ? ALLOWED_MS
                            : state == DENIED  ? DENIED_MS
                            : state == UNKNOWN ? UNKNOWN_MS
                                               : 0);
    for (struct waiting *w; (w = a->waiting);) {
        a->waiting = w->next;
        x->n_waiting--;
        tell(a, state, w);
        free(w);
    }
}

/* Why it cannot ask is logged when that begins. */
static void failed(struct answer *a, const char *what, const char *why)
{
    struct sw_access *x = a->access;
    if (!x->troubled)
        sw_log(SW_LOG_WARN, "nobody is let in: the API server cannot be asked who may read",
               "question", what, "error", why, NULL);
    x->troubled = true;
    settle(a, FAILED);
}

/* ---- questions ---------------------------------------------------------------------------------
 */

static void on_access_review(const struct sw_kube_answer *answer, void *arg)
{
    struct answer *a = arg;
    if (answer->code < 0) {
        failed(a, "SubjectAccessReview", sw_err_text(answer->err));
        return;
    }
    a->access->troubled = false;
    settle(a, sw_kube_access_is_allowed(answer->object) ? ALLOWED : DENIED);
}

static void ask_access(struct answer *a, struct json_object *user)
{
    SW_AUTO_JSON *what = json_object_new_object();
    sw_json_set_str(what, a->verb, "nonResourceAttributes", "verb", NULL);
    sw_json_set_str(what, a->path, "nonResourceAttributes", "path", NULL);
    a->request = sw_kube_access_review(a->access->kube, user, what, &question, on_access_review, a);
}

static void on_token_review(const struct sw_kube_answer *answer, void *arg)
{
    struct answer *a = arg;
    struct json_object *status = sw_json_get(answer->object, "status");
    struct json_object *user = sw_json_get(status, "user");
    const char *name = sw_json_str(user, "", "username", NULL);
    if (answer->code < 0) {
        failed(a, "TokenReview", sw_err_text(answer->err));
    } else if (!sw_json_bool(status, false, "authenticated", NULL) || !*name) {
        a->access->troubled = false;
        settle(a, UNKNOWN);
    } else {
        free(a->user);
        a->user = sw_strndup(name, strnlen(name, MAX_USER));
        json_object_put(a->who);
        a->who = sw_json_copy(user);
        ask_access(a, user);
    }
}

static int need_kube(struct sw_access *x, struct sw_err *err)
{
    struct sw_kube_config *config = NULL;
    if (x->kube)
        return 0;
    const struct sw_kubeconfig_opts from = { .path = x->opts.kubeconfig };
    int rc = sw_kubeconfig_load(&from, &config, err);
    if (rc == 0)
        rc = sw_kube_new(x->opts.loop, config,
                         &(struct sw_kube_opts){ .user_agent = x->opts.program,
                                                 .field_manager = x->opts.program,
                                                 .max_in_flight = 2 * MAX_ASKED },
                         &x->kube, err);
    sw_kube_config_free(config);
    x->own_kube = rc == 0;
    return rc;
}

static void ask_token(struct answer *a, const char *token)
{
    SW_ERR(err);
    if (need_kube(a->access, &err) < 0) {
        failed(a, "TokenReview", sw_err_text(&err));
        return;
    }
    SW_AUTO_JSON *body = json_object_new_object();
    sw_json_set_str(body, token_reviews.api_version, "apiVersion", NULL);
    sw_json_set_str(body, token_reviews.kind, "kind", NULL);
    sw_json_set_str(body, token, "spec", "token", NULL);
    a->request = sw_kube_create(a->access->kube, &token_reviews, NULL, NULL, body, &question,
                                on_token_review, a);
}

/* ---- who asks ----------------------------------------------------------------------------------
 */

static void make_key(const struct sw_access_request *r, uint8_t key[static SW_SHA256_LEN])
{
    SW_AUTO_CHARS *text = sw_printf("%s\n%s\n%s", r->verb, r->path, r->token);
    const size_t len = strlen(text);
    sw_sha256(text, len, key);
    explicit_bzero(text, len);
}

/* The place for a new answer: a free one, else that of the stranger, or else of the allowed one,
 * that has not come for longest. NULL: all are being asked for. */
static struct answer **place(struct sw_access *x)
{
    struct answer **best = NULL;
    for (size_t i = 0; i < MAX_ANSWERS; i++) {
        struct answer **at = &x->answers[i];
        if (!*at)
            return at;
        if ((*at)->state != ASKING &&
            (!best || (*at)->was_allowed < (*best)->was_allowed ||
             ((*at)->was_allowed == (*best)->was_allowed && (*at)->used_ms < (*best)->used_ms)))
            best = at;
    }
    return best;
}

static struct answer *find(struct sw_access *x, const uint8_t key[static SW_SHA256_LEN])
{
    for (size_t i = 0; i < MAX_ANSWERS; i++)
        if (x->answers[i] && memcmp(x->answers[i]->key, key, SW_SHA256_LEN) == 0)
            return x->answers[i];
    return NULL;
}

static struct answer *add(struct sw_access *x, const struct sw_access_request *r,
                          const uint8_t key[static SW_SHA256_LEN])
{
    struct answer **at = place(x), *a = sw_zalloc(1, sizeof *a);
    if (*at)
        answer_free(*at);
    *at = a;
    a->access = x;
    a->state = FAILED;
    a->verb = sw_strdup(r->verb);
    a->path = sw_strdup(r->path);
    memcpy(a->key, key, SW_SHA256_LEN);
    return a;
}

static bool spend(int64_t *credit_ms, int64_t now_ms)
{
    if (*credit_ms < now_ms - (int64_t)BURST * REFILL_MS)
        *credit_ms = now_ms - (int64_t)BURST * REFILL_MS;
    if (*credit_ms + REFILL_MS > now_ms)
        return false;
    *credit_ms += REFILL_MS;
    return true;
}

/* The place of @address, else the one of who has not asked for longest. */
static struct asker *asker_of(struct sw_access *x, const uint8_t *address)
{
    struct asker *oldest = &x->askers[0];
    for (size_t i = 0; i < MAX_ASKERS; i++) {
        struct asker *a = &x->askers[i];
        if (a->asked_ms && memcmp(a->address, address, sizeof a->address) == 0)
            return a;
        oldest = a->asked_ms < oldest->asked_ms ? a : oldest;
    }
    oldest->asked_ms = 0;
    return oldest;
}

/* May a question of a stranger at @address be passed on? */
static bool has_credit(struct sw_access *x, const uint8_t *address)
{
    const int64_t now_ms = sw_loop_now_ms(x->opts.loop);
    struct asker *a = asker_of(x, address);
    const bool is_fresh = !a->asked_ms || now_ms - a->asked_ms >= FRESH_MS;
    if (x->n_asked >= MAX_ASKED + (is_fresh ? FRESH_ASKED : 0) ||
        !spend(is_fresh ? &x->fresh_credit_ms : &x->credit_ms, now_ms))
        return false;
    memcpy(a->address, address, sizeof a->address);
    a->asked_ms = now_ms > 0 ? now_ms : 1;
    return true;
}

void sw_access_ask(struct sw_access *x, const struct sw_access_request *r,
                   struct sw_serve_reply *reply, sw_access_fn *allowed, void *arg)
{
    static const char crowded[] = "too many ask at once; try again\n";
    const int64_t now_ms = sw_loop_now_ms(x->opts.loop);
    uint8_t key[SW_SHA256_LEN];
    const struct waiting asks = { reply, allowed, r->forget, r->identify, arg, NULL };
    if (!r->token || !*r->token || strlen(r->token) > MAX_TOKEN) {
        tell(NULL, UNKNOWN, &asks);
        return;
    }
    make_key(r, key);
    struct answer *a = find(x, key);
    if (a)
        a->used_ms = now_ms;
    if (a && a->state != ASKING && now_ms < a->until_ms) {
        tell(a, a->state, &asks);
        return;
    }
    const bool starts = !a || a->state != ASKING;
    if (x->n_waiting >= MAX_WAITING ||
        (starts && !(a && a->was_allowed) && !has_credit(x, sw_serve_address(reply)))) {
        if (r->forget)
            r->forget(arg);
        sw_serve_text(reply, 503, crowded);
        return;
    }
    if (!a)
        a = add(x, r, key);
    struct waiting *w = sw_zalloc(1, sizeof *w);
    *w = asks;
    w->next = a->waiting;
    a->waiting = w;
    a->used_ms = now_ms;
    x->n_waiting++;
    if (!starts)
        return;
    a->state = ASKING;
    x->n_asked += !a->was_allowed;
    ask_token(a, r->token);
}

struct sw_access *sw_access_new(const struct sw_access_opts *opts)
{
    struct sw_access *x = sw_zalloc(1, sizeof *x);
    x->opts = *opts;
    x->kube = opts->kube;
    return x;
}

void sw_access_free(struct sw_access *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < MAX_ANSWERS; i++) {
        struct answer *a = x->answers[i];
        if (!a)
            continue;
        sw_kube_cancel(a->request);
        if (a->state == ASKING)
            settle(a, FAILED);
        answer_free(a);
    }
    if (x->own_kube)
        sw_kube_free(x->kube);
    free(x);
}
