#pragma once
/* Reading TOML, between toml_read.c, toml_read_scalar.c, toml_read_number.c and toml_read_error.c.
 */
#include "chart/template/toml/toml.h"

/** How deep tables, arrays and keys may be nested. */
enum { SW_TOML_DEEPEST = 200 };

struct table;

/** A key or string, not NUL-terminated. */
struct toml_key {
    const char *s;
    size_t len;
};

/** The state of reading one document. */
struct toml_reader {
    const char *p, *end, *start;
    const char *full_end; /* @end is before this where a character is not allowed in TOML */
    struct sw_arena *arena;
    struct sw_err *err;
    struct text text; /* scratch */
    struct table *root;
    struct table *current; /* of the last header */
    int depth;
    /* for messages: the table that is open, the key whose value is read, where that stands */
    struct toml_key context, key;
    const char *key_at;
};

/** Set the error, with the line and the last key in front, as BurntSushi/toml 1.5 does. The
 * line is that of the reading place. @return SW_INVALID */
int sw_toml_fail(struct toml_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The same of the key that was read last, on its line. */
int sw_toml_fail_key(struct toml_reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** The same of the line end at the reading place. */
int sw_toml_fail_newline(struct toml_reader *r, const char *what);
/** "<before>'x'<after>", of the character at the reading place. */
int sw_toml_fail_rune(struct toml_reader *r, const char *before, const char *after);
/** "<before>'x'<after>" with that as it is, or "end of file". */
int sw_toml_fail_rune_or_end(struct toml_reader *r, const char *before, const char *after);
/** Whether @s comes next. */
bool sw_toml_at(const struct toml_reader *r, const char *s);
/** Whether @s comes next; if so it is passed. */
bool sw_toml_take(struct toml_reader *r, const char *s);
/** Whether a line end comes next. */
bool sw_toml_at_newline(const struct toml_reader *r);
/** Pass spaces and tabs. */
void sw_toml_skip_blanks(struct toml_reader *r);
/** Pass a comment, up to the line end. */
void sw_toml_skip_comment(struct toml_reader *r);
/** Blanks, comments and line ends. */
void sw_toml_skip_space(struct toml_reader *r);

/** A string of any of the four kinds, in the arena. */
int sw_toml_string(struct toml_reader *r, struct toml_key *out);
/** A string of the two kinds that keys may be. */
int sw_toml_line_string(struct toml_reader *r, struct toml_key *out);
/** A number, boolean or time. */
int sw_toml_word(struct toml_reader *r, struct sw_value *out);
