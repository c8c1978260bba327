#pragma once
/* Template text to tokens. */
#include "base/base.h"

/** What a token is. */
enum token_kind {
    TOK_ERROR, /* s: what is wrong */
    TOK_BOOL,
    TOK_CHAR, /* punctuation such as a comma */
    TOK_CHAR_CONSTANT,
    TOK_COMPLEX,
    TOK_ASSIGN,
    TOK_DECLARE,
    TOK_EOF,
    TOK_FIELD, /* ".name" */
    TOK_IDENT,
    TOK_LEFT_DELIM,
    TOK_LEFT_PAREN,
    TOK_NUMBER,
    TOK_PIPE,
    TOK_RAW_STRING,
    TOK_RIGHT_DELIM,
    TOK_RIGHT_PAREN,
    TOK_SPACE,
    TOK_STRING,
    TOK_TEXT,
    TOK_VARIABLE, /* "$" or "$name" */
    TOK_KEYWORD,  /* keywords are greater than this */
    TOK_BLOCK,
    TOK_BREAK,
    TOK_CONTINUE,
    TOK_DOT,
    TOK_DEFINE,
    TOK_ELSE,
    TOK_END,
    TOK_IF,
    TOK_NIL,
    TOK_RANGE,
    TOK_TEMPLATE,
    TOK_WITH,
};

/** A piece of a template's text. */
struct token {
    enum token_kind kind;
    const char *s; /* in the text, or for errors in the arena */
    uint32_t len;
    uint32_t pos;
    uint32_t line;
};

/** The state of reading one text. */
struct lexer {
    struct sw_arena *arena;
    const char *in;
    size_t len;
    size_t pos, start;
    uint32_t line, start_line;
    int parens;
    bool inside;
};

/** @text is borrowed; error messages are made in @arena. */
void sw_lex_init(struct lexer *l, struct sw_arena *arena, const char *text, size_t len);
/** The next token; after TOK_EOF or TOK_ERROR there is none. */
struct token sw_lex_next(struct lexer *l);
