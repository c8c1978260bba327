/* A recording, as `slipway replay` is given it: whatever it holds, it is played or refused. */
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "operator/engine/recording/replay.h"

static void on_step(const struct sw_replay_step *step, void *arg)
{
    size_t *n = arg;
    *n += step->n_actions;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sw_replay_result end;
    size_t n = 0;
    SW_ERR(err);
    if (sw_recording_is((const char *)data, size))
        (void)!sw_replay((const char *)data, size, "recording", on_step, &n, &end, &err);
    return 0;
}
