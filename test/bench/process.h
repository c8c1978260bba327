#pragma once
/* What several programs of the bench measure of processes: CPU, memory, percentiles. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

/** Seconds of the monotonic clock. */
static inline double now_s(void)
{
    return sw_monotonic_s();
}

/** utime + stime of a process, in seconds. */
static inline double cpu_s(pid_t pid)
{
    char path[64], buf[1024];
    unsigned long user = 0, sys = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    const char *p = f && fgets(buf, sizeof buf, f) ? strrchr(buf, ')') : NULL;
    if (p)
        (void)sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys);
    if (f)
        (void)fclose(f);
    return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

/** A field of /proc/PID/status, such as "VmRSS:", in KiB; 0: it is not there. */
static inline long rss_kib(pid_t pid, const char *field)
{
    char path[64], line[256];
    long kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtol(line + strlen(field), NULL, 10);
    if (f)
        (void)fclose(f);
    return kib;
}

/** From here on "VmHWM:" is the most since now. */
static inline void peak_again(pid_t pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)pid);
    FILE *f = fopen(path, "w");
    if (f) {
        (void)fputs("5", f);
        (void)fclose(f);
    }
}

/** For qsort() of doubles. */
static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** End a process that was started here, and wait for it. */
static inline void end_process(pid_t pid, int signal_no)
{
    if (pid <= 0)
        return;
    (void)kill(pid, signal_no);
    (void)waitpid(pid, NULL, 0);
}
