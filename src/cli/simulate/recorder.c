#include "cli/simulate/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/command/cli.h"
#include "operator/engine/engine.h"
#include "operator/engine/recording/recording.h"

struct sw_recorder {
    FILE *file;
    char *name;
    struct sw_recording *recording;
    bool failed;
};

/* Each line is flushed: the process may be killed at any time. */
static void on_line(const char *line, size_t len, void *arg)
{
    struct sw_recorder *r = arg;
    if (r->failed || (fwrite(line, 1, len, r->file) == len && fflush(r->file) == 0))
        return;
    r->failed = true;
    sw_log(SW_LOG_WARN, "the recording ends", "file", r->name, "why", strerror(errno), NULL);
}

int sw_recorder_open(const struct sw_record_opts *opts, struct sw_recorder **out,
                     struct sw_err *err)
{
    static const struct sw_engine_opts defaults; /* those of the commands */
    unsigned char bytes[16] = { 0 };
    char salt[2 * sizeof bytes + 1];
    *out = NULL;
    if (!opts->file)
        return 0;
    int fd = open(opts->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return sw_err_set(err, errno == EACCES ? SW_FORBIDDEN : SW_INVALID, "cannot write '%s': %s",
                          opts->file, strerror(errno));
    struct sw_recorder *r = sw_zalloc(1, sizeof *r);
    *r = (struct sw_recorder){ .file = file, .name = sw_strdup(opts->file) };
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort(); /* getrandom() does not fail for 16 bytes */
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(salt + 2 * i, 3, "%02x", bytes[i]);
    r->recording = sw_recording_new(
        &(struct sw_recording_opts){ .version = sw_version,
                                     .salt = salt,
                                     .engine = &defaults,
                                     .max_bytes = (size_t)opts->max_mib << 20,
                                     .write = on_line,
                                     .arg = r });
    *out = r;
    return 0;
}

struct sw_recording *sw_recorder_recording(const struct sw_recorder *recorder)
{
    return recorder ? recorder->recording : NULL;
}

void sw_recorder_close(struct sw_recorder *recorder)
{
    if (!recorder)
        return;
    sw_recording_free(recorder->recording);
    (void)fclose(recorder->file); /* each line was flushed */
    free(recorder->name);
    free(recorder);
}
