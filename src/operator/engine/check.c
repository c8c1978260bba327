/* Checks: Jobs whose result is told (SW_ANN_CHECK): passed, skipped, failed. Those of one phase run
 * one after the other, whatever becomes of them; a phase that failed ends it. Source: NVIDIA/aicr,
 * pkg/validator: exit codes of validators, phases, and what CTRF calls the results. */
#include <stdlib.h>
#include <string.h>

#include "data/json/path.h"
#include "operator/engine/internal.h"

static struct object *check_of(const struct state *s)
{
    for (size_t i = 0; i < s->n_objects; i++)
        if (s->objects[i]->text && s->objects[i]->gate && s->objects[i]->gate->check)
            return s->objects[i];
    return NULL;
}

bool check_goes_on(const struct state *s, const struct state *need)
{
    const struct object *mine = check_of(s), *other = check_of(need);
    return need->phase == PH_FAILED && mine && other &&
           sw_streq(mine->gate->check, other->gate->check);
}

/* Why it does not apply: the last line of its log, of a logger's line the reason alone. The
 * caller's; NULL: it is not known. */
static char *skip_reason(const char *line)
{
    static const char key[] = " reason=";
    const char *at = line ? strstr(line, key) : NULL;
    if (!at)
        return sw_strdup(line);
    at += sizeof key - 1;
    const size_t len = strlen(at);
    const bool quoted = len > 1 && at[0] == '"' && at[len - 1] == '"';
    return quoted ? sw_strndup(at + 1, len - 2) : sw_strdup(at);
}

/* "passed", "failed", ... as CTRF says; NULL: what it came to before still counts, since its Job is
 * not there any more. */
static const char *result_of(const struct state *s, const struct object *o)
{
    const struct sw_readiness *judged = &o->judged;
    if (!o->present || o->live_hash != o->hash)
        return o->done_hash == o->hash && s->check_result ? NULL : "pending";
    if (judged->skipped)
        return "skipped";
    if (judged->kind == SW_READINESS_READY)
        return "passed";
    if (judged->kind != SW_READINESS_FAILED)
        return "pending";
    return sw_streq(judged->reason, "BackoffLimitExceeded") ? "failed" : "other";
}

void check_update(struct sw_engine *e, struct state *s)
{
    const struct object *o = check_of(s);
    const char *result = o ? result_of(s, o) : NULL, *reason;
    if (!o)
        sw_text_set(&s->check_result, NULL);
    if (!result)
        return;
    const bool same = sw_streq(result, s->check_result);
    const char *line = o->container_logs.line;
    SW_AUTO_CHARS *why =
        sw_streq(result, "skipped") ? skip_reason(line)
        : sw_streq(result, "passed")
            ? sw_strdup(line)
            : sw_strdup(sw_streq(result, "pending") ? NULL : state_message(e, s, &reason));
    if (!same || why) /* a restart does not lose what the log said */
        sw_text_set(&s->check_message, why);
    sw_text_set(&s->check_result, result);
}

struct json_object *check_doc(const struct state *s)
{
    const struct object *o = check_of(s);
    struct json_object *doc = NULL;
    if (!o || !s->check_result)
        return NULL;
    doc = json_object_new_object();
    sw_json_set_str(doc, o->gate->check, "phase", NULL);
    sw_json_set_str(doc, s->check_result, "result", NULL);
    if (s->check_message && *s->check_message)
        sw_json_set_str(doc, s->check_message, "message", NULL);
    return doc;
}

char *check_note(const struct state *s, const char *note)
{
    const struct object *o = check_of(s);
    if (!o || !s->check_result || s->phase != PH_READY)
        return sw_strdup(note);
    const bool has_message = s->check_message && *s->check_message;
    return sw_printf("%s%s%s%s%s%s", s->check_result, has_message ? ": " : "",
                     has_message ? s->check_message : "", note ? " (" : "", note ? note : "",
                     note ? ")" : "");
}

void check_read(struct state *s, struct json_object *doc)
{
    sw_text_set(&s->check_result, sw_json_str(doc, NULL, "result", NULL));
    sw_text_set(&s->check_message, sw_json_str(doc, NULL, "message", NULL));
}

void check_done(struct state *s)
{
    free(SW_TAKE(s->check_result));
    free(SW_TAKE(s->check_message));
}
