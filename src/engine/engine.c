#include "engine/engine.h"

#include <stdlib.h>

#include <json-c/json.h>

struct sw_engine {
    const struct sw_roster *roster;
    struct sw_engine_opts opts;
    struct sw_actions actions;
};

struct sw_engine *sw_engine_new(const struct sw_roster *roster, const struct sw_engine_opts *opts)
{
    struct sw_engine *e = sw_zalloc(1, sizeof *e);
    e->roster = roster;
    if (opts)
        e->opts = *opts;
    return e;
}

void sw_engine_free(struct sw_engine *engine)
{
    free(engine);
}

const struct sw_actions *sw_engine_step(struct sw_engine *engine, const struct sw_event *event)
{
    (void)event;
    return &engine->actions;
}

struct json_object *sw_engine_status(struct sw_engine *engine, int64_t now_ms)
{
    (void)engine;
    (void)now_ms;
    return json_object_new_object();
}

enum sw_phase sw_engine_phase(const struct sw_engine *engine)
{
    (void)engine;
    return SW_PHASE_PROGRESSING;
}
