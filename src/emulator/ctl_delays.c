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
