/* The process of one control daemon: it makes the daemon's surroundings, starts it, tells it its
 * limits, says when clients may come, and ends it. It waits for one thing at a time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/data.h"
#include "slicing/deviceplugin/broker/files.h"
#include "slicing/deviceplugin/driver/root.h"
#include "slicing/deviceplugin/mps/folder.h"
#include "slicing/deviceplugin/mps/mps.h"

enum { START_MS = 15 * 1000, ASK_MS = 5 * 1000, QUIT_MS = 15 * 1000, AGAIN_MS = 50 };
enum { MAX_CONFIG = 64 * 1024, MAX_LINE = 512 };
/* The daemon's logs lie in memory, and it never ends them. */
enum { MAX_LOG = 1024 * 1024, TRIM_MS = 60 * 1000 };

#define CONTROL "nvidia-cuda-mps-control"

struct daemon {
    const char *host_root, *uid;
    char *root; /* the driver's */
    char *devices, *commands;
    bool multi_user;
    int out;             /* a pipe: what the daemon prints; -1: nothing more */
    char last[MAX_LINE]; /* its last line */
    size_t len;
    bool ended; /* that line is */
    pid_t pid;
};

/* ---- what it is told ---------------------------------------------------------------------------
 */

static int read_config(struct daemon *d, struct sw_err *err)
{
    SW_AUTO_CHARS *path = mps_path(d->host_root, d->uid, NULL), *text = NULL;
    SW_AUTO_JSON *doc = NULL;
    size_t len;
    sw_append(&path, ".json");
    int rc = sw_file_read(path, MAX_CONFIG, &text, &len, err);
    if (rc == 0)
        rc = sw_json_parse(text, len, &(struct sw_json_opts){ .file = path, .max_depth = 8 }, &doc,
                           err);
    if (rc < 0)
        return rc;
    struct json_object *commands = sw_json_get(doc, "commands");
    d->devices = sw_json_joined(sw_json_get(doc, "devices"), ",");
    /* at least one: the answer says that it is up */
    d->commands = sw_json_len(commands) ? sw_json_joined(commands, "\n")
                                        : sw_strdup("get_default_active_thread_percentage");
    sw_append(&d->commands, "\n");
    d->multi_user = sw_json_bool(doc, false, "multiUser", NULL);
    return 0;
}

/* ---- its surroundings --------------------------------------------------------------------------
 */

static int fail(struct sw_err *err, const char *path)
{
    return sw_err_set(err, SW_UNAVAILABLE, "%s: %s", path, strerror(errno));
}

static int make_dir(const char *path, mode_t mode, struct sw_err *err)
{
    /* the umask leaves less */
    return (mkdir(path, mode) == 0 || errno == EEXIST) && chmod(path, mode) == 0 ? 0
                                                                                 : fail(err, path);
}

static int bind_at(const char *from, const char *root, const char *to, struct sw_err *err)
{
    SW_AUTO_CHARS *path = sw_printf("%s%s", strcmp(root, "/") == 0 ? "" : root, to);
    return mount(from, path, NULL, MS_BIND, NULL) == 0 ? 0 : fail(err, path);
}

/* Only these processes see it: in the driver's root a /tmp of its own, with the folders that the
 * clients have, and the claim's part of /dev/shm. Clients and daemon have to find each other by the
 * same paths. */
static int enter(struct daemon *d, struct sw_err *err)
{
    static const char pipes[] = "/tmp/nvidia-mps", logs[] = "/tmp/nvidia-log";
    const char *root = strcmp(d->root, "/") == 0 ? "" : d->root;
    SW_AUTO_CHARS *tmp = sw_printf("%s/tmp", root);
    SW_AUTO_CHARS *to_pipe = sw_printf("%s%s", root, pipes),
                  *to_log = sw_printf("%s%s", root, logs);
    SW_AUTO_CHARS *pipe = mps_path(d->host_root, d->uid, "pipe");
    SW_AUTO_CHARS *log = mps_path(d->host_root, d->uid, "log");
    SW_AUTO_CHARS *shm = mps_shm(d->host_root, d->uid);
    mps_remove(pipe); /* of one that was killed */
    int rc = make_dir(pipe, 0755, err);
    if (rc == 0)
        rc = make_dir(log, 0755, err);
    if (rc == 0)
        rc = make_dir(shm, 01777, err);
    if (rc == 0 &&
        (unshare(CLONE_NEWNS) != 0 || mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) != 0))
        rc = fail(err, "a mount namespace");
    if (rc == 0)
        rc = bind_at(shm, d->root, "/dev/shm", err);
    if (rc == 0 && mount("mps", tmp, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1m") != 0)
        rc = fail(err, tmp);
    if (rc == 0)
        rc = make_dir(to_pipe, 0755, err);
    if (rc == 0)
        rc = make_dir(to_log, 0755, err);
    if (rc == 0)
        rc = bind_at(pipe, d->root, pipes, err);
    return rc == 0 ? bind_at(log, d->root, logs, err) : rc;
}

/* ---- its life ----------------------------------------------------------------------------------
 */

static int start(struct daemon *d, struct sw_err *err)
{
    SW_AUTO_CHARS *devices = sw_printf("CUDA_VISIBLE_DEVICES=%s", d->devices);
    const char *const argv[] = { CONTROL, "-f", d->multi_user ? "-multiuser-server" : NULL, NULL };
    const char *const env[] = { devices, "CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps",
                                "CUDA_MPS_LOG_DIRECTORY=/tmp/nvidia-log", NULL };
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
        return fail(err, "a pipe");
    d->out = ends[0];
    const int rc = dp_root_start(d->root, argv, env, ends[1], &d->pid, err);
    (void)close(ends[1]);
    return rc;
}

/* What it prints goes to the log of this container; the last line is kept for an error. */
static void pass_on(struct daemon *d)
{
    char buf[4096];
    ssize_t n = 0;
    while (d->out >= 0 && (n = read(d->out, buf, sizeof buf)) > 0) {
        (void)!write(STDERR_FILENO, buf, (size_t)n);
        for (ssize_t i = 0; i < n; i++) {
            if (buf[i] == '\n') {
                d->ended = true;
                continue;
            }
            if (d->ended)
                d->len = 0;
            d->ended = false;
            if (d->len + 1 < sizeof d->last)
                d->last[d->len++] = buf[i];
            d->last[d->len] = '\0';
        }
    }
    if (n == 0 && d->out >= 0) { /* it has closed it */
        (void)close(d->out);
        d->out = -1;
    }
}

static void trim_logs(const struct daemon *d)
{
    static const char *const names[] = { "log/control.log", "log/server.log" };
    for (size_t i = 0; i < SW_COUNT(names); i++) {
        SW_AUTO_CHARS *path = mps_path(d->host_root, d->uid, names[i]);
        struct stat st;
        const int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_blocks * 512 > MAX_LOG)
            (void)!ftruncate(fd, 0); /* the next time */
        (void)close(fd);
    }
}

/* Its front end, which hands lines to it. */
static int tell(const struct daemon *d, const char *lines, int timeout_ms, struct sw_err *err)
{
    static const char *const argv[] = { CONTROL, NULL };
    return dp_root_run(d->root, argv, lines, timeout_ms, err);
}

/* Whether it is to end. */
static bool is_told(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

/* The front end's words are of no use where the daemon itself has ended. */
static int has_ended(struct daemon *d, struct sw_err *err)
{
    SW_AUTO_CHARS *path = mps_path(d->host_root, d->uid, "log/control.log"), *line = NULL;
    pass_on(d);
    const int fd = d->len ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        line = dp_last_line(fd);
        (void)close(fd);
    }
    d->pid = 0;
    return sw_err_set(err, SW_UNAVAILABLE, CONTROL " in %s has ended: %s", d->root,
                      d->len ? d->last : sw_text_or(line, "it says nothing"));
}

static int wait_until_up(struct daemon *d, struct sw_err *err)
{
    const int64_t end_ms = sw_monotonic_ms() + START_MS;
    SW_AUTO_CHARS *control = mps_path(d->host_root, d->uid, "pipe/control");
    int status;
    for (;;) {
        if (dp_child_wait(d->pid, AGAIN_MS, &status) == 0)
            return has_ended(d, err);
        pass_on(d);
        const bool listens = access(control, F_OK) == 0;
        if (listens && tell(d, d->commands, ASK_MS, err) == 0)
            return 0;
        if (is_told())
            return SW_PENDING;
        if (sw_monotonic_ms() > end_ms)
            return listens ? sw_err_wrap(err, SW_UNAVAILABLE, "not told its limits")
                           : sw_err_set(err, SW_UNAVAILABLE,
                                        CONTROL " in %s does not listen after "
                                                "%d s",
                                        d->root, START_MS / 1000);
        sw_err_done(err);
    }
}

/* By its own command it ends its servers, too. */
static void quit(struct daemon *d)
{
    SW_ERR(err);
    int status;
    if (!d->pid)
        return;
    if (tell(d, "quit -t 10\n", QUIT_MS, &err) < 0)
        (void)kill(d->pid, SIGTERM); /* it does not listen */
    if (dp_child_wait(d->pid, QUIT_MS, &status) < 0) {
        (void)kill(d->pid, SIGKILL);
        (void)!dp_child_wait(d->pid, QUIT_MS, &status);
    }
}

/* @return 0: it is to end | SW_UNAVAILABLE: it has ended */
static int wait_for_end(struct daemon *d, int signals, struct sw_err *err)
{
    struct signalfd_siginfo info;
    int status;
    for (;;) {
        struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
                                { .fd = d->out, .events = POLLIN } };
        (void)poll(fds, SW_COUNT(fds), TRIM_MS);
        pass_on(d);
        trim_logs(d);
        if (dp_child_wait(d->pid, 0, &status) == 0)
            return has_ended(d, err);
        while (read(signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo == SIGTERM)
                return 0;
    }
}

static int run(struct daemon *d, const sigset_t *signals, struct sw_err *err)
{
    SW_AUTO_CHARS *ready = mps_path(d->host_root, d->uid, "ready");
    const int fd = signalfd(-1, signals, SFD_NONBLOCK | SFD_CLOEXEC);
    int rc = fd < 0 ? fail(err, "signals") : wait_until_up(d, err);
    if (rc == 0)
        rc = sw_file_write(ready, "", 0, err);
    if (rc == 0) {
        sw_log(SW_LOG_INFO, "MPS control daemon is up", "claim", d->uid, "devices", d->devices,
               NULL);
        rc = wait_for_end(d, fd, err);
    }
    (void)unlink(ready);
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

static int serve(struct daemon *d, const sigset_t *signals, struct sw_err *err)
{
    SW_AUTO_CHARS *ready = mps_path(d->host_root, d->uid, "ready");
    (void)unlink(ready);
    int rc = read_config(d, err);
    if (rc == 0)
        rc = enter(d, err);
    if (rc == 0)
        rc = start(d, err);
    if (rc == 0)
        rc = run(d, signals, err);
    quit(d);
    return rc;
}

int dp_mps_daemon(const char *host_root, const char *uid)
{
    struct daemon d = {
        .out = -1, .host_root = host_root, .uid = uid, .root = dp_driver_root(host_root)
    };
    SW_ERR(err);
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    /* not without who starts it again */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    /* what it starts has the lock, too */
    const int lock = mps_lock(host_root, uid), fd = lock < 0 ? -1 : dup(lock);
    int rc = fd < 0 ? SW_PENDING : serve(&d, &signals, &err);
    SW_AUTO_CHARS *config = mps_path(host_root, uid, NULL);
    sw_append(&config, ".json");
    if (rc < 0 && fd >= 0 && access(config, F_OK) == 0) {
        sw_log(SW_LOG_ERROR, "MPS control daemon", "claim", uid, "error", sw_err_text(&err), NULL);
        mps_say(host_root, uid, sw_err_text(&err));
    }
    free(d.root);
    free(d.devices);
    free(d.commands);
    return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
