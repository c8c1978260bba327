#include "operator/fetching/fetching.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/kept.h"
#include "base/loop.h"
#include "base/spawn.h"
#include "chart/fetch/helper.h"
#include "data/data.h"
#include "operator/fetching/ranges.h"
#include "operator/renderer/renderer.h"

/* Two lanes: what is new begins in the fast one. Who takes longer than FAST_MS while others wait
 * goes on in the slow one, or waits there, and begins there the next time: servers that hardly
 * answer delay one another, not those that do. In each lane the resource is next whose turn is the
 * longest ago. Who needs more memory than SW_FETCH_BYTES begins anew with SW_FETCH_MOST_BYTES, in
 * the place of a renderer. */
enum {
    AT_A_TIME = 1, /* in each lane */
    FAST_MS = 4000,
    SLOW_MS = 10000, /* the first slice in the slow lane; the next is twice as long */
    CHECK_MS = 500,
    PLACE_MS = 100,
    CPU_S = 30,
    IMAGE_CPU_S = 150, /* layers of gigabytes */
    ANSWER_MAX = 96 << 20,
    DEADLINE_MS = 150000,
    IMAGE_DEADLINE_MS = 600000,
    MAX_TURNS = 512
};

/* A resource that had something fetched. */
struct turn {
    struct turn *next;
    char *key;
    uint64_t last;     /* in which of all turns */
    bool is_slow;      /* it took long the last time */
    bool is_large;     /* and much memory */
    unsigned n_slices; /* that it has had in the slow lane */
    size_t n_fetches;
    bool is_busy;
};

struct sw_fetch_queue {
    struct sw_loop *loop;
    char *helper; /* NULL: none */
    char *allowed;
    const struct sw_embedded *stand_ins; /* where there is no helper */
    struct ranges *ranges;               /* NULL: everything may be reached */
    struct sw_renderers *renderers;
    struct sw_timer *timer; /* for the place of a renderer */
    struct sw_fetch *first;
    struct turn *turns;
    uint64_t n_turns;
};

struct sw_fetch {
    struct sw_fetch_queue *q;
    struct sw_fetch *next;
    struct turn *turn;
    struct json_object *request;
    sw_fetch_fn *done; /* NULL: cancelled */
    void *arg;
    struct sw_timer *timer;
    bool is_running;
    int64_t begun_ms, used_ms; /* @used_ms: before it began anew */
    struct bufferevent *bev;   /* to the helper's stdin; NULL: not started */
    int answer;                /* its stdout, a file without a name; -1: none */
    pid_t pid;                 /* 0: none */
};

static void start_next(struct sw_fetch_queue *q);
static void wait_larger(struct sw_fetch *f);

/* ---- turns -------------------------------------------------------------------------------------
 */

static void turn_free(struct sw_fetch_queue *q, struct turn *turn)
{
    struct turn **at = &q->turns;
    while (*at != turn)
        at = &(*at)->next;
    *at = turn->next;
    free(turn->key);
    free(turn);
}

/* Who took long is remembered, of very many the last ones. */
static void forget_turns(struct sw_fetch_queue *q)
{
    size_t n = 0;
    for (struct turn *t = q->turns, *next; t; t = next) {
        next = t->next;
        if (!t->n_fetches && (!(t->is_slow || t->is_large) || ++n > MAX_TURNS))
            turn_free(q, t);
    }
}

static struct turn *turn_of(struct sw_fetch_queue *q, const char *key)
{
    struct turn *t = q->turns;
    while (t && !sw_streq(t->key, key))
        t = t->next;
    if (t)
        return t;
    t = sw_zalloc(1, sizeof *t);
    *t = (struct turn){ .next = q->turns, .key = sw_strdup(key) };
    return q->turns = t;
}

/* ---- life --------------------------------------------------------------------------------------
 */

/* @return its status, as waitpid() has it */
static int reap(struct sw_fetch *f)
{
    int status = 0;
    if (f->pid <= 0)
        return 0;
    (void)kill(f->pid, SIGKILL); /* it has answered, or is given up */
    while (waitpid(f->pid, &status, 0) < 0 && errno == EINTR)
        ;
    f->pid = 0;
    return status;
}

/* What runs is ended, without an answer. */
static void stop(struct sw_fetch *f)
{
    sw_timer_stop(f->timer);
    if (f->bev)
        bufferevent_free(SW_TAKE(f->bev));
    (void)reap(f);
    if (f->answer >= 0)
        (void)close(f->answer);
    f->answer = -1;
    if (f->is_running)
        f->turn->is_busy = false;
    f->is_running = false;
}

static void fetch_free(struct sw_fetch *f)
{
    struct sw_fetch **at = &f->q->first;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    stop(f);
    f->turn->n_fetches--;
    sw_timer_free(f->timer);
    json_object_put(f->request);
    free(f);
}

/* @bundle is taken. */
static void finish(struct sw_fetch *f, struct json_object *answer, struct sw_kept *bundle)
{
    struct sw_fetch_queue *q = f->q;
    sw_fetch_fn *done = f->done;
    void *arg = f->arg;
    f->done = NULL;
    f->turn->is_slow = sw_loop_now_ms(q->loop) - f->begun_ms > FAST_MS;
    f->turn->n_slices = f->turn->is_slow ? f->turn->n_slices : 0;
    stop(f);
    if (done)
        done(answer, bundle, arg);
    else
        sw_kept_free(bundle);
    fetch_free(f);
    forget_turns(q);
    start_next(q);
}

static void fail(struct sw_fetch *f, int code, const char *message)
{
    SW_AUTO_JSON *answer = json_object_new_object();
    (void)json_object_object_add(answer, "code", json_object_new_int(code));
    sw_json_set_str(answer, message, "error", NULL);
    finish(f, answer, NULL);
}

/* Does it ask a registry about an image? Else it is a recipe that is fetched. */
static bool is_image(const struct sw_fetch *f)
{
    return sw_json_get(f->request, "lookup");
}

/* ---- the helper --------------------------------------------------------------------------------
 */

/* What the helper has written, which has ended. @bundle: what follows the answer where its code is
 * 0, else NULL; the caller's. @return 0 | SW_INVALID | SW_UNAVAILABLE */
static int read_answer(struct sw_fetch *f, struct json_object **answer, struct sw_kept **bundle,
                       struct sw_err *err)
{
    SW_AUTO(sw_kept) *file = NULL;
    const char *rest;
    size_t len;
    int fd = f->answer;
    f->answer = -1;
    int rc = sw_kept_take_file(fd, ANSWER_MAX, &file, err);
    if (rc < 0)
        return sw_err_set(err, rc, "%s",
                          rc == SW_INVALID ? "the recipe is too large" : "the fetch helper failed");
    rc = sw_fetch_read_answer(sw_kept_bytes(file), sw_kept_len(file), answer, &rest, &len, err);
    if (rc < 0 || sw_json_int(*answer, SW_UNAVAILABLE, "code", NULL) != 0)
        return rc;
    sw_kept_skip(file, sw_kept_len(file) - len);
    sw_kept_rest(file);
    *bundle = SW_TAKE(file);
    return 0;
}

static void on_event(struct bufferevent *bev SW_UNUSED, short what, void *arg)
{
    struct sw_fetch *f = arg;
    if (!(what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)))
        return;
    int status = reap(f);
    SW_AUTO_JSON *answer = NULL;
    SW_AUTO(sw_kept) *bundle = NULL;
    SW_ERR(err);
    int rc = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU
                 ? sw_err_set(&err, SW_INVALID,
                              "the %s takes more time to unpack than a fetch may have",
                              is_image(f) ? "image" : "recipe")
                 : read_answer(f, &answer, &bundle, &err);
    if (rc < 0)
        fail(f, rc, sw_err_text(&err));
    else if (sw_json_bool(answer, false, "limit", NULL) && !f->turn->is_large)
        wait_larger(f);
    else
        finish(f, answer, SW_TAKE(bundle));
}

/* The whole request is written: the helper reads until the end. */
static void on_written(struct bufferevent *bev, void *arg SW_UNUSED)
{
    (void)shutdown(bufferevent_getfd(bev), SHUT_WR);
}

/* What the helper gets of the environment. */
static const char *const inherited[] = {
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LD_LIBRARY_PATH",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SLIPWAY_CACHE_DIR",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "REGISTRY_AUTH_FILE",
    "DOCKER_CONFIG",
    "SSH_KNOWN_HOSTS",
    "SSH_AUTH_SOCK",
    "GNUPGHOME",
    "ASAN_OPTIONS",
    "LSAN_OPTIONS",
    "UBSAN_OPTIONS",
};

static int spawn(struct sw_fetch *f, int fd)
{
    char *environment[SW_COUNT(inherited) + 1] = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < SW_COUNT(inherited); i++) {
        const char *value = getenv(inherited[i]);
        if (value)
            environment[n++] = sw_printf("%s=%s", inherited[i], value);
    }
    static const char *const argv[] = { "slipway", "fetch", "-", NULL };
    const int fds[] = { fd, f->answer, -1 };
    const int rc = sw_spawn(&(struct sw_spawn){ f->q->helper, argv, environment, fds }, &f->pid);
    while (n)
        free(environment[--n]);
    return rc;
}

/* What it may reach is known when it begins. */
static void limit_fetch(struct sw_fetch *f)
{
    if (!f->q->ranges)
        return;
    int64_t bytes = f->turn->is_large ? SW_FETCH_MOST_BYTES : SW_FETCH_BYTES;
    sw_json_set(f->request, json_object_new_int64(bytes), "limits", "bytes", NULL);
    sw_json_set(f->request, json_object_new_int(is_image(f) ? IMAGE_CPU_S : CPU_S), "limits",
                "cpuS", NULL);
    sw_json_set_str(f->request, f->q->allowed, "allowedSources", NULL);
    sw_json_set(f->request, ranges_to_json(f->q->ranges), "clusterRanges", NULL);
}

static void begin(struct sw_fetch *f)
{
    int fds[2];
    f->answer = sw_file_unnamed();
    if (f->answer < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
        fail(f, SW_UNAVAILABLE, "no socket for the fetch helper, or no room for its answer");
        return;
    }
    limit_fetch(f);
    SW_AUTO_CHARS *text = sw_json_text(f->request, SW_JSON_PLAIN, NULL);
    if (evutil_make_socket_nonblocking(fds[0]) < 0 || spawn(f, fds[1]) != 0) {
        (void)close(fds[0]);
        (void)close(fds[1]);
        f->pid = 0;
        fail(f, SW_UNAVAILABLE, "the fetch helper cannot be started");
        return;
    }
    (void)close(fds[1]);
    f->bev = bufferevent_socket_new(sw_loop_base(f->q->loop), fds[0], BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(f->bev, NULL, on_written, on_event, f);
    (void)bufferevent_enable(f->bev, EV_READ | EV_WRITE);
    (void)bufferevent_write(f->bev, text, strlen(text));
    sw_timer_set(f->timer, FAST_MS);
}

static void fetch_here(struct sw_fetch *f)
{
    SW_AUTO_JSON *answer = NULL;
    SW_AUTO_CHARS *bundle = NULL;
    size_t len = 0;
    sw_fetch_do(f->request, f->q->stand_ins, &answer, &bundle, &len);
    finish(f, answer, bundle ? sw_kept_new(bundle, len) : NULL);
}

/* ---- the queue ---------------------------------------------------------------------------------
 */

static size_t count(const struct sw_fetch_queue *q, bool slow, bool running)
{
    size_t n = 0;
    for (const struct sw_fetch *f = q->first; f; f = f->next)
        n += f->is_running == running && f->turn->is_slow == slow && (running || !f->turn->is_busy);
    return n;
}

/* What ran begins anew when there is room. */
static void wait_again(struct sw_fetch *f)
{
    struct sw_fetch_queue *q = f->q;
    f->used_ms += sw_loop_now_ms(q->loop) - f->begun_ms;
    if (f->done)
        stop(f);
    else
        fetch_free(f);
    start_next(q);
}

/* It begins anew, with more memory. */
static void wait_larger(struct sw_fetch *f)
{
    f->turn->is_large = true;
    wait_again(f);
}

/* It runs in the slow lane. */
static void check_slow(struct sw_fetch *f, int64_t ran_ms)
{
    struct turn *turn = f->turn;
    int64_t slice_ms = (int64_t)SLOW_MS << turn->n_slices;
    if (ran_ms >= slice_ms && count(f->q, true, false)) {
        turn->n_slices += turn->n_slices < 4;
        wait_again(f);
    } else {
        sw_timer_set(f->timer, slice_ms - ran_ms > CHECK_MS ? slice_ms - ran_ms : CHECK_MS);
    }
}

/* It has taken its time in its lane. */
static void check_lane(struct sw_fetch *f)
{
    struct sw_fetch_queue *q = f->q;
    int64_t ran_ms = sw_loop_now_ms(q->loop) - f->begun_ms;
    if (ran_ms + f->used_ms >= (is_image(f) ? IMAGE_DEADLINE_MS : DEADLINE_MS)) {
        fail(f, SW_UNAVAILABLE, "the fetch helper does not answer");
    } else if (f->turn->is_slow) {
        check_slow(f, ran_ms);
    } else if (count(q, true, true) < AT_A_TIME) {
        f->turn->is_slow = true;
        sw_timer_set(f->timer, CHECK_MS);
        start_next(q);
    } else if (count(q, false, false)) {
        f->turn->is_slow = true;
        wait_again(f);
    } else {
        sw_timer_set(f->timer, CHECK_MS);
    }
}

static void on_timer(void *arg)
{
    struct sw_fetch *f = arg;
    if (f->bev)
        check_lane(f);
    else if (f->q->helper)
        begin(f);
    else
        fetch_here(f);
}

/* Who is large is one at a time. @return whether there is a place for it */
static bool has_place(struct sw_fetch_queue *q, const struct sw_fetch *f)
{
    if (!f->turn->is_large)
        return true;
    for (const struct sw_fetch *other = q->first; other; other = other->next)
        if (other->is_running && other->turn->is_large)
            return false;
    bool is_free = sw_renderers_lend(q->renderers, true);
    if (!is_free)
        sw_timer_set(q->timer, PLACE_MS);
    return is_free;
}

static struct sw_fetch *find_next(struct sw_fetch_queue *q, bool slow)
{
    struct sw_fetch *found = NULL;
    for (struct sw_fetch *f = q->first; f; f = f->next)
        if (!f->is_running && !f->turn->is_busy && f->turn->is_slow == slow &&
            (!found || f->turn->last < found->turn->last) && has_place(q, f))
            found = f;
    return found;
}

static void start_next(struct sw_fetch_queue *q)
{
    bool is_large = false;
    for (const struct sw_fetch *f = q->first; f; f = f->next)
        is_large |= f->turn->is_large;
    if (!is_large)
        (void)sw_renderers_lend(q->renderers, false);
    if (!q->first || (q->ranges && !ranges_are_known(q->ranges)))
        return;
    for (int slow = 0; slow < 2; slow++) {
        size_t n = count(q, slow, true);
        for (struct sw_fetch *f; n < AT_A_TIME && (f = find_next(q, slow)); n++) {
            f->is_running = f->turn->is_busy = true;
            f->turn->last = ++q->n_turns;
            f->begun_ms = sw_loop_now_ms(q->loop);
            sw_timer_set(f->timer, 0);
        }
    }
}

struct sw_fetch *sw_fetch_start(struct sw_fetch_queue *q, const char *key,
                                struct json_object *request, sw_fetch_fn *done, void *arg)
{
    struct sw_fetch *f = sw_zalloc(1, sizeof *f);
    *f = (struct sw_fetch){
        .q = q, .turn = turn_of(q, key), .request = request, .done = done, .arg = arg, .answer = -1
    };
    f->turn->n_fetches++;
    f->timer = sw_timer_new(q->loop, on_timer, f);
    struct sw_fetch **end = &q->first;
    while (*end)
        end = &(*end)->next;
    *end = f;
    start_next(q);
    return f;
}

void sw_fetch_cancel(struct sw_fetch *f)
{
    if (!f)
        return;
    struct sw_fetch_queue *q = f->q;
    f->done = NULL;
    if (f->bev && !is_image(f)) /* it goes on, and fills the cache */
        return;
    fetch_free(f);
    start_next(q);
}

static void on_due(void *arg)
{
    start_next(arg);
}

struct sw_fetch_queue *sw_fetch_queue_new(struct sw_loop *loop, struct sw_kube *kube,
                                          struct sw_renderers *renderers, const char *helper,
                                          const char *allowed, const struct sw_embedded *stand_ins)
{
    struct sw_fetch_queue *q = sw_zalloc(1, sizeof *q);
    *q = (struct sw_fetch_queue){ .loop = loop,
                                  .renderers = renderers,
                                  .helper = sw_strdup(helper),
                                  .allowed = sw_strdup(allowed),
                                  .stand_ins = stand_ins };
    if (helper && allowed)
        q->ranges = ranges_new(loop, kube, on_due, q);
    q->timer = sw_timer_new(loop, on_due, q);
    return q;
}

void sw_fetch_queue_add_node(struct sw_fetch_queue *q, struct json_object *node)
{
    if (q->ranges)
        ranges_add_node(q->ranges, node);
}

void sw_fetch_queue_free(struct sw_fetch_queue *q)
{
    while (q->first)
        fetch_free(SW_LINKED(q->first));
    while (q->turns)
        turn_free(q, q->turns);
    ranges_free(q->ranges);
    sw_timer_free(q->timer);
    free(q->helper);
    free(q->allowed);
    free(q);
}
