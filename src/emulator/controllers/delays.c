#include <stdlib.h>

#include "emulator/emulator.h"

const struct sw_emu_delays sw_emu_delays_human = {
    .schedule_ms = 20,
    .pull_ms = 200,
    .pod_start_ms = 100,
    .pod_ready_ms = 50,
    .pod_stop_ms = 50,
    .job_run_ms = 300,
    .rule_percent = 100,
    .jitter_percent = 10,
};

int sw_emu_delays_read(const char *text, struct sw_emu_delays *out, struct sw_err *err)
{
    char *end;
    double factor = strtod(text, &end);
    if (end == text || *end || !(factor >= 0) || factor > 1000)
        return sw_err_set(err, SW_INVALID,
                          "--delays: '%s' is not a factor such as 0 (at once), 0.5 or 1", text);
    const struct sw_emu_delays *h = &sw_emu_delays_human;
    *out = (struct sw_emu_delays){
        .schedule_ms = (int)(h->schedule_ms * factor),
        .pull_ms = (int)(h->pull_ms * factor),
        .pod_start_ms = (int)(h->pod_start_ms * factor),
        .pod_ready_ms = (int)(h->pod_ready_ms * factor),
        .pod_stop_ms = (int)(h->pod_stop_ms * factor),
        .job_run_ms = (int)(h->job_run_ms * factor),
        .rule_percent = (int)(h->rule_percent * factor),
        .jitter_percent = h->jitter_percent,
    };
    return 0;
}
