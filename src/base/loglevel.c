#include "base/loglevel.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"

enum { LOOK_MS = 2000, MAX_BYTES = 256 };

static const struct {
    const char *name;
    enum sw_log_level level;
} words[] = {
    { "error", SW_LOG_ERROR }, { "warn", SW_LOG_WARN },      { "info", SW_LOG_INFO },
    { "debug", SW_LOG_DEBUG }, { "Normal", SW_LOG_INFO },    { "Debug", SW_LOG_DEBUG },
    { "Trace", SW_LOG_DEBUG }, { "TraceAll", SW_LOG_DEBUG },
};

bool sw_log_level_parse(const char *name, enum sw_log_level *out)
{
    for (size_t i = 0; i < SW_COUNT(words); i++)
        if (strcmp(words[i].name, name) == 0) {
            *out = words[i].level;
            return true;
        }
    return false;
}

static enum sw_log_level level_now(void)
{
    enum sw_log_level level = SW_LOG_DEBUG;
    while (level > SW_LOG_ERROR && !sw_log_enabled(level))
        level--;
    return level;
}

void sw_log_level_change(enum sw_log_level level, const char *why)
{
    if (level == level_now())
        return;
    sw_log_set_level(level > SW_LOG_INFO ? level : SW_LOG_INFO); /* so that it is seen */
    sw_log(SW_LOG_INFO, "log level", "level", words[level].name, "by", why, NULL);
    sw_log_set_level(level);
}

struct sw_log_file {
    char *path;
    struct sw_timer *timer;
    enum sw_log_level before; /* what holds without the file */
    char *seen;               /* its word; "": there is none */
};

/* The first word of the file, "" where there is none. Heap. */
static char *read_word(const char *path)
{
    SW_AUTO_CHARS *text = NULL;
    SW_ERR(err);
    size_t len;
    if (sw_file_read(path, MAX_BYTES, &text, &len, &err) < 0)
        return sw_strdup("");
    const char *from = text + strspn(text, " \t\r\n");
    return sw_strndup(from, strcspn(from, " \t\r\n"));
}

static void check_file(void *arg)
{
    struct sw_log_file *f = arg;
    sw_timer_set(f->timer, LOOK_MS);
    SW_AUTO_CHARS *word = read_word(f->path);
    if (strcmp(word, f->seen) == 0)
        return;
    enum sw_log_level level = f->before;
    if (!*word || sw_log_level_parse(word, &level))
        sw_log_level_change(level, f->path);
    else
        sw_log(SW_LOG_WARN, "not a log level", "file", f->path, "word", word, NULL);
    free(f->seen);
    f->seen = SW_TAKE(word);
}

struct sw_log_file *sw_log_file_open(struct sw_loop *loop, const char *path)
{
    if (!path || !*path)
        return NULL;
    struct sw_log_file *f = sw_zalloc(1, sizeof *f);
    f->path = sw_strdup(path);
    f->seen = sw_strdup("");
    f->before = level_now();
    f->timer = sw_timer_new(loop, check_file, f);
    check_file(f);
    return f;
}

void sw_log_file_close(struct sw_log_file *f)
{
    if (!f)
        return;
    sw_timer_free(f->timer);
    free(f->seen);
    free(f->path);
    free(f);
}
