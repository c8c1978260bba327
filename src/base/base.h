#pragma once
/* base: the lowest module: errors with messages, allocation that cannot fail, arenas, logs of one
 * line per event, reading and writing whole files. Containers and print buffers are json-c's
 * (linkhash, arraylist, printbuf). */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- errors ------------------------------------------------------------------------------------
 */

/** Functions return 0 or one of these codes, which says how the caller can react; the message is in
 * struct sw_err. */
enum sw_code {
    SW_OK = 0,
    SW_PENDING = -1,     /* not there yet: wait for its event */
    SW_CONFLICT = -2,    /* changed by another client, or exists already (409): read again */
    SW_GONE = -3,        /* too old (410): list again */
    SW_UNAVAILABLE = -4, /* no answer, or one that will change by itself (5xx, 429): back off */
    SW_INVALID = -5,     /* bad input: tell the user; nothing changes until the input does */
    SW_FORBIDDEN = -6,   /* not allowed (401, 403): tell the user */
    SW_NOTFOUND = -7,    /* no such object, file or name (404) */
    SW_CANCELED = -8,    /* canceled by the caller */
};

/** @return the code's name in lower case ("invalid"), for logs. */
const char *sw_code_name(int code);

/** An error: code and message. Zero-initialise; @text is owned (heap) and NULL without an error. */
struct sw_err {
    int code;
    char *text;
};

/** Declare an empty error that frees itself at the end of its scope: SW_ERR(err); f(&err). */
#define SW_ERR(name) __attribute__((cleanup(sw_err_done))) struct sw_err name = { 0 }

/** Replace code and message of @err, which may be NULL if the caller needs only the code.
 * @return @code */
int sw_err_set(struct sw_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/** As sw_err_set(), with the arguments as a va_list. */
int sw_err_vset(struct sw_err *err, int code, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/** Put the context in front of the message: "<formatted>: <message>". @return @code */
int sw_err_wrap(struct sw_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Move code and message of @from to @to (either may be NULL); @from is empty then. @return the
 * moved code */
int sw_err_move(struct sw_err *to, struct sw_err *from);

/** @return the message, or the name of the code if there is none; never NULL. Borrowed. */
const char *sw_err_text(const struct sw_err *err);

/** Free the message. */
void sw_err_done(struct sw_err *err);

/* ---- ownership ---------------------------------------------------------------------------------
 */

/** SW_DEFINE_AUTO(sw_thing, sw_thing_free): lets SW_AUTO(sw_thing) *x free itself at scope end. */
#define SW_DEFINE_AUTO(type, free_fn)                                                              \
    static inline void type##_auto(struct type **p)                                                \
    {                                                                                              \
        free_fn(*p);                                                                               \
    }
#define SW_AUTO(type) __attribute__((cleanup(type##_auto))) struct type
#define SW_AUTO_CHARS __attribute__((cleanup(sw_chars_auto))) char

/** Pass a pointer on: the value of @p, which is NULL then. */
#define SW_TAKE(p)                                                                                 \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

/** @p, an element that is taken out of its list by what frees it. Clang's analyzer cannot follow
 * that: hack/lint.h tells it so. */
#define SW_LINKED(p) (p)

#define SW_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SW_UNUSED __attribute__((unused))
/* Is this a build with sanitizers that keep a shadow of memory? It is larger than any limit. */
#if defined(__SANITIZE_ADDRESS__)
#define SW_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SW_IS_SANITIZED 1
#endif
#endif
#ifndef SW_IS_SANITIZED
#define SW_IS_SANITIZED 0
#endif
#define SW_CHECKED __attribute__((warn_unused_result))

/** The cleanup function of SW_AUTO_CHARS. */
void sw_chars_auto(char **p);

/* ---- memory: ends the process when there is none ------------------------------------------------
 */

/** As malloc(); the caller frees it. */
void *sw_alloc(size_t len_bytes) __attribute__((malloc, returns_nonnull));
/** As calloc(): zeroed memory for @n elements; the caller frees it. */
void *sw_zalloc(size_t n, size_t size_bytes) __attribute__((malloc, returns_nonnull));
/** As reallocarray(): @p with room for @n elements. Ends the process if the size overflows. */
void *sw_realloc(void *p, size_t n, size_t size_bytes) __attribute__((returns_nonnull));
/** A copy of @s; the caller frees it. NULL of NULL. */
char *sw_strdup(const char *s) __attribute__((malloc));
/** Free *@text and let it be a copy of @with, which may be in *@text, or NULL. */
void sw_text_set(char **text, const char *with);
/** A copy of @len_bytes bytes of @s with a NUL after them; the caller frees it. */
char *sw_strndup(const char *s, size_t len_bytes) __attribute__((malloc, returns_nonnull));
/** Copy @s without blanks, tabs and line ends at its two ends. Never NULL, the caller's. */
char *sw_strtrim(const char *s) __attribute__((malloc, returns_nonnull));
/** Formatted text; the caller frees it. */
char *sw_printf(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), malloc, returns_nonnull));
/** As sw_printf(), with the arguments as a va_list. */
char *sw_vprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0), returns_nonnull));
/** Append to the heap text @*text, which may move; NULL counts as "". */
void sw_append(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Call @end, which does not return, where the functions above find no memory; NULL: abort(). For
 * processes that work under a limit. */
void sw_on_out_of_memory(void (*end)(void));

/** Whether this thread's stack has room for one more level of a recursion whose depth input
 * decides: at least a quarter of the stack is left. A walk that counts its levels asks this
 * besides, since a level's size is the compiler's choice. Takes nanoseconds. Pinned by
 * test/unit/base/base_stack_test.c. */
bool sw_stack_has_room(void);

/** Return free memory of the allocator to the system (most of the heap is free after a list of
 * thousands of objects or a burst of requests), and drop the resident pages of code and constants:
 * pages that are used again are mapped from the page cache. Linking and starting touch several MiB
 * of libraries. Takes milliseconds: not for hot paths. */
void sw_memory_settle(void);

/** Room for one more element in a growing array: doubles @*cap when @n has reached it. */
#define SW_GROW(array, n, cap)                                                                     \
    do {                                                                                           \
        if ((n) >= (cap)) {                                                                        \
            (cap) = (cap) ? (cap)*2 : 8;                                                           \
            (array) = sw_realloc((array), (cap), sizeof *(array));                                 \
        }                                                                                          \
    } while (0)

/** An arena: allocations that are freed together. Owns memory only. Sanitizer builds give every
 * allocation a block of its own, so that the sanitizer detects overruns and use after free. */
struct sw_arena;
/** An empty arena; sw_arena_free() frees it. */
struct sw_arena *sw_arena_new(void);
/** Free the arena with all its allocations. NULL is accepted. */
void sw_arena_free(struct sw_arena *arena);
/** Zeroed memory, aligned for any type. */
void *sw_arena_alloc(struct sw_arena *arena, size_t len_bytes) __attribute__((returns_nonnull));
/** Free *@text and let it be a copy of @with, which may be in *@text, or NULL. */
void sw_text_set(char **text, const char *with);
/** A copy of @len_bytes bytes of @s with a NUL after them, owned by the arena. */
char *sw_arena_strndup(struct sw_arena *arena, const char *s, size_t len_bytes);
/** A copy of @s, owned by the arena. */
char *sw_arena_strdup(struct sw_arena *arena, const char *s);
/** Formatted text, owned by the arena. */
char *sw_arena_printf(struct sw_arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Free all allocations; one block is kept for the next ones. */
void sw_arena_reset(struct sw_arena *arena);
/** A copy of the @len_bytes bytes at @p in memory of @new_bytes bytes, the rest zeroed. */
void *sw_arena_grow(struct sw_arena *arena, const void *p, size_t len_bytes, size_t new_bytes);
/** As SW_GROW(), for an array in @arena. */
#define SW_ARENA_GROW(arena, array, n, cap)                                                        \
    do {                                                                                           \
        if ((n) >= (cap)) {                                                                        \
            (cap) = (cap) ? (cap)*2 : 4;                                                           \
            (array) = sw_arena_grow((arena), (array), (n) * sizeof *(array),                       \
                                    (cap) * sizeof *(array));                                      \
        }                                                                                          \
    } while (0)
/** Bytes handed out since the start or the last reset, with what aligns them. */
size_t sw_arena_used(const struct sw_arena *arena);
/** Limit what the arena hands out, for work whose size others choose; SIZE_MAX, the default: no
 * limit. Allocating never fails: beyond the limit the arena is only marked, so that who runs the
 * work ends it. @return the limit until now */
size_t sw_arena_limit(struct sw_arena *arena, size_t most_bytes);
/** What an arena begins with; only for the two functions below. */
struct sw_arena_count {
    size_t used, most; /* bytes; the limit */
    bool over;         /* there was no room for something */
};
/** Whether @len_bytes more are within the limit. If not, the arena is marked: who asked may leave
 * its work undone. To be asked before an allocation whose size others choose. */
static inline bool sw_arena_has_room(struct sw_arena *arena, size_t len_bytes)
{
    struct sw_arena_count *count = (struct sw_arena_count *)arena;
    if (count->used <= count->most && len_bytes <= count->most - count->used)
        return true;
    count->over = true;
    return false;
}
/** Whether the limit was passed, or would have been. */
static inline bool sw_arena_is_over(const struct sw_arena *arena)
{
    const struct sw_arena_count *count = (const struct sw_arena_count *)arena;
    return count->over || count->used > count->most;
}
SW_DEFINE_AUTO(sw_arena, sw_arena_free)

/* ---- strings -----------------------------------------------------------------------------------
 */

bool sw_streq(const char *a, const char *b); /* NULL equals only NULL */
/** @text, or @otherwise where @text is NULL or empty. */
const char *sw_text_or(const char *text, const char *otherwise);
/** Whether @s begins with @prefix. */
bool sw_starts_with(const char *s, const char *prefix);
/** Whether @s ends with @suffix. */
bool sw_ends_with(const char *s, const char *suffix);
/** The length of @text, of @len bytes, without the slashes at its end; at least @least of them
 * stay. */
size_t sw_before_slashes(const char *text, size_t len, size_t least);
/** 64-bit FNV-1a, the same as Go's hash/fnv New64a: SRO names kernel-affine objects with it. */
uint64_t sw_fnv64a(const void *bytes, size_t len_bytes);

/* ---- a program ---------------------------------------------------------------------------------
 */

/** Call it first in main(). It ignores SIGPIPE, so that writing to a closed pipe or connection is
 * an error of write(). It also opens those of stdin, stdout and stderr that are closed, so that no
 * socket or file gets their number and receives printed text; printing to them still fails.
 * Pinned by test/emulator/cli/tools_test.sh. */
void sw_program_start(void);

/* ---- files -------------------------------------------------------------------------------------
 */

/** Read all of @path. @*out is NUL-terminated (the NUL is not counted) and the caller's.
 * @return 0 | SW_NOTFOUND | SW_FORBIDDEN | SW_INVALID (a directory, or larger than @max_bytes) */
int sw_file_read(const char *path, size_t max_bytes, char **out, size_t *len_bytes,
                 struct sw_err *err) SW_CHECKED;

/** Close all descriptors from @first on. */
void sw_close_from(int first);

/** A file without a name, below $TMPDIR or /tmp, else in memory, for reading and writing; the
 * caller's. @return a descriptor, or -1 */
int sw_file_unnamed(void) SW_CHECKED;
/** Write @text to the file @fd, and go back to its beginning, for a program that reads it.
 * @return 0 | -1: errno */
int sw_fd_fill(int fd, const char *text, size_t len) SW_CHECKED;
/** Read the file @fd from its beginning: what a program has written. @*out: the caller's, ended by
 * a NUL besides. @name: for messages. @return 0 | SW_INVALID: more than @max_bytes | SW_UNAVAILABLE
 */
int sw_fd_read(int fd, const char *name, size_t max_bytes, char **out, size_t *len_bytes,
               struct sw_err *err) SW_CHECKED;

/** Replace a file atomically: readers, and a restart after a crash, find the old or the new
 * content. It is readable by its owner alone, whatever the umask: values may be secret.
 * @return 0, or a negative code with the path in @err */
int sw_file_write(const char *path, const void *bytes, size_t len_bytes,
                  struct sw_err *err) SW_CHECKED;

/** The same for a file that people edit and share, as Chart.yaml: it keeps the owner and the mode
 * of the one that it replaces; a new one has the mode that the umask leaves. What a writer that was
 * killed has left beside it is removed. Not beside threads. */
int sw_file_rewrite(const char *path, const void *bytes, size_t len_bytes,
                    struct sw_err *err) SW_CHECKED;

/** As sw_file_write(), and make the folders that @path is in. */
int sw_file_write_deep(const char *path, const void *bytes, size_t len_bytes,
                       struct sw_err *err) SW_CHECKED;

/* ---- log ---------------------------------------------------------------------------------------
 */

/** The severity of a line of the log. */
enum sw_log_level { SW_LOG_ERROR, SW_LOG_WARN, SW_LOG_INFO, SW_LOG_DEBUG };

/** Chosen once by the shell; default SW_LOG_INFO. May change at run time. */
void sw_log_set_level(enum sw_log_level level);
/** Whether lines of @level are logged. */
bool sw_log_enabled(enum sw_log_level level);

/** One event, one line on stderr: time, level, @event, then key=value pairs, ended by NULL.
 * Values are quoted where necessary. The caller must not pass secrets.
 *     sw_log(SW_LOG_INFO, "state ready", "resource", name, "state", state, NULL); */
void sw_log(enum sw_log_level level, const char *event, ...) __attribute__((sentinel));

/** Receives each line with its newline, borrowed for the call. */
typedef void sw_log_sink(enum sw_log_level level, const char *line, size_t len_bytes, void *arg);
/** Send lines to @sink instead of stderr; NULL: stderr. */
void sw_log_set_sink(sw_log_sink *sink, void *arg);
/** Write complete lines to stderr. */
void sw_log_write(const char *lines, size_t len_bytes);

/* ---- time --------------------------------------------------------------------------------------
 */

/** Milliseconds since the epoch. For the outer layers: inner code takes now_ms as a parameter. */
int64_t sw_now_ms(void);
/** Milliseconds since a fixed point; not affected by changes of the wall clock. */
int64_t sw_monotonic_ms(void);
/** Seconds since some fixed point, to nanoseconds: to measure how long something took. */
double sw_monotonic_s(void);
/** "2026-01-02T03:04:05Z" as Kubernetes' metav1.Time writes it. @buf holds 21 bytes. */
char *sw_time_rfc3339(int64_t ms, char buf[static 21]);

/* ---- files that travel in the program
 * ------------------------------------------------------------ */

/** One file that the build put into the binary (hack/embed.sh). A list ends with a NULL name. */
struct sw_embedded {
    const char *name; /* base name, or what follows a "./" in its path */
    const char *text; /* NUL-terminated besides */
    size_t len_bytes;
};
