#pragma once
/* Reading TOML, between toml_scalar.c (what stands on one line, and strings) and toml_read.c. */
#include "template/toml.h"

enum { SW_TOML_DEEPEST = 200 };

struct table;

struct toml_reader {
    const char *p, *end, *start;
    struct sw_arena *arena;
    struct sw_err *err;
    struct text text; /* scratch */
    struct table *root;
    struct table *current; /* of the last header */
    int depth;
};

struct toml_key {
    const char *s;
    size_t len;
};

/** What is wrong, with the line in front. @return SW_INVALID */
int sw_toml_fail(struct toml_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The same, of what stands at the reading place. */
int sw_toml_unexpected(struct toml_reader *r, const char *wanted);

bool sw_toml_at(const struct toml_reader *r, const char *s);
bool sw_toml_take(struct toml_reader *r, const char *s);
bool sw_toml_at_newline(const struct toml_reader *r);
void sw_toml_skip_blanks(struct toml_reader *r);
int sw_toml_skip_comment(struct toml_reader *r);
/** Blanks, comments and line ends. */
int sw_toml_skip_space(struct toml_reader *r);

/** A string of any of the four kinds, in the arena. */
int sw_toml_string(struct toml_reader *r, struct toml_key *out);
/** Any other value without parts: number, bool, time. */
int sw_toml_word(struct toml_reader *r, struct sw_value *out);
