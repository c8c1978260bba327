#include "base/base.h"
#include "base/output.h"

#include <json-c/printbuf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The one piece of global state: a process has one stderr. */
static enum sw_log_level log_level = SW_LOG_INFO;
static sw_log_sink *log_sink;
static void *log_sink_arg;

void sw_log_set_level(enum sw_log_level level)
{
    log_level = level;
}

void sw_log_set_sink(sw_log_sink *sink, void *arg)
{
    log_sink = sink;
    log_sink_arg = arg;
}

bool sw_log_enabled(enum sw_log_level level)
{
    return level <= log_level;
}

static bool is_bare(unsigned char c)
{
    return c > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7f;
}

static void put(struct printbuf *pb, const char *s)
{
    printbuf_memappend(pb, s, (int)strlen(s));
}

/* A value cannot start a line of its own: control bytes are escaped. */
static void add_value(struct printbuf *pb, const char *s)
{
    const char *end = s;
    while (is_bare((unsigned char)*end))
        end++;
    if (*s && !*end) {
        put(pb, s);
        return;
    }
    put(pb, "\"");
    while (*s) {
        for (end = s; is_bare((unsigned char)*end) || *end == ' ' || *end == '=';)
            end++;
        printbuf_memappend(pb, s, (int)(end - s));
        s = end;
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            sprintbuf(pb, "\\%c", c);
        else if (c == '\n')
            put(pb, "\\n");
        else if (c)
            sprintbuf(pb, "\\x%02x", c);
        s += c != '\0';
    }
    put(pb, "\"");
}

void sw_log(enum sw_log_level level, const char *event, ...)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    if (!sw_log_enabled(level))
        return;
    struct printbuf *pb = printbuf_new();
    if (!pb)
        return;
    char when[21];
    sprintbuf(pb, "%s %-5s ", sw_time_rfc3339(sw_now_ms(), when), names[level]);
    add_value(pb, event);
    va_list ap;
    va_start(ap, event);
    for (const char *key; (key = va_arg(ap, const char *));) {
        const char *value = va_arg(ap, const char *);
        put(pb, " ");
        put(pb, key);
        put(pb, "=");
        add_value(pb, value ? value : "");
    }
    va_end(ap);
    printbuf_memappend(pb, "\n", 1);
    struct printbuf *line = printbuf_new();
    sw_output_put(line, pb->buf, (size_t)pb->bpos, false); /* of other bytes: no UTF-8, C1 */
    if (log_sink)
        log_sink(level, line->buf, (size_t)line->bpos, log_sink_arg);
    else
        sw_log_write(line->buf, (size_t)line->bpos);
    printbuf_free(line);
    printbuf_free(pb);
}

void sw_log_write(const char *lines, size_t len_bytes)
{
    (void)!write(STDERR_FILENO, lines, len_bytes); /* a log that cannot be written is lost */
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec ts;
    (void)clock_gettime(clock, &ts); /* both clocks always exist on Linux */
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t sw_now_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

int64_t sw_monotonic_ms(void)
{
    return clock_ms(CLOCK_BOOTTIME); /* goes on while the machine sleeps */
}

double sw_monotonic_s(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

char *sw_time_rfc3339(int64_t ms, char buf[static 21])
{
    time_t t = (time_t)(ms / 1000 - (ms % 1000 < 0)); /* the second that has begun */
    struct tm tm;
    if (!gmtime_r(&t, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
        return memcpy(buf, "1970-01-01T00:00:00Z", 21);
    const unsigned year = (unsigned)tm.tm_year + 1900; /* %Y would write three digits of 452 */
    (void)snprintf(buf, 5, "%04u", year % 10000);
    (void)strftime(buf + 4, 17, "-%m-%dT%H:%M:%SZ", &tm);
    return buf;
}
