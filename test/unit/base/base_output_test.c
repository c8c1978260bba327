/* What is printed is harmless to a terminal. */
#include "base/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <json-c/printbuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static void check_bytes(const char *bytes, size_t len, bool colours, const char *expected)
{
    struct printbuf *out = printbuf_new();
    sw_output_put(out, bytes, len, colours);
    assert_string_equal(out->buf, expected);
    printbuf_free(out);
}
#define CHECK(bytes, expected) check_bytes(bytes, sizeof(bytes) - 1, false, expected)

static void text_stays(void **state)
{
    (void)state;
    CHECK("", "");
    CHECK("plain\ttext\n", "plain\ttext\n");
    CHECK("a\r\nb", "a\r\nb");
    CHECK("Gr\xc3\xbc\xc3\x9f"
          "e \xe2\x82\xac \xf0\x9f\x98\x80",
          "Gr\xc3\xbc\xc3\x9f"
          "e \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void what_a_terminal_acts_on_is_text(void **state)
{
    (void)state;
    CHECK("\033[2J\033]0;title\a", "\\u001b[2J\\u001b]0;title\\u0007");
    CHECK("over\rwritten\b\v\f", "over\\u000dwritten\\u0008\\u000b\\u000c");
    CHECK("nul\0del\x7f", "nul\\u0000del\\u007f");
    CHECK("\xc2\x9b"
          "31m",
          "\\u009b31m"); /* CSI as one character */
    CHECK("\x9b"
          "31m",
          "\\x9b31m"); /* and as a byte */
    CHECK("\xe2\x80\xae"
          "backwards\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8",
          "\\u202ebackwards\\u2066\\u061c\\u2028");
}

static void what_is_no_utf8_is_bytes(void **state)
{
    (void)state;
    CHECK("\xff\xc0\xaf", "\\xff\\xc0\\xaf");
    CHECK("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* half of a pair */
    CHECK("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    CHECK("a\xe2\x82", "a\\xe2\\x82");
    CHECK("\xc2\033", "\\xc2\\u001b");
}

static void colours_are_those_of_slipway(void **state)
{
    (void)state;
    static const char ours[] = "\033[1mb\033[2m\033[0m\033[31mr\033[36m";
    check_bytes(ours, sizeof ours - 1, true, ours);
    check_bytes(ours, 4, false, "\\u001b[1m");
    static const char hidden[] = "\033[8m\033[38m\033[1;31m\033[1\033[1J\033[";
    check_bytes(hidden, sizeof hidden - 1, true,
                "\\u001b[8m\\u001b[38m\\u001b[1;31m\\u001b[1\\u001b[1J\\u001b[");
}

/* Any bytes at all: what comes out has none that a terminal acts on. */
static void nothing_else_comes_out(void **state)
{
    (void)state;
    uint32_t random = 20;
    for (int i = 0; i < 20000; i++) {
        char bytes[12];
        for (size_t k = 0; k < sizeof bytes; k++) {
            random = random * 1664525 + 1013904223;
            bytes[k] = (char)(random >> 24);
        }
        struct printbuf *out = printbuf_new();
        sw_output_put(out, bytes, sizeof bytes, false);
        for (int k = 0; k < out->bpos; k++) {
            const unsigned char c = (unsigned char)out->buf[k];
            assert_true(c >= 0x20 || c == '\n' || c == '\t' || c == '\r');
            assert_true(c != '\r' || out->buf[k + 1] == '\n');
            assert_false(c == 0xc2 && (unsigned char)out->buf[k + 1] < 0xa0);
        }
        printbuf_free(out);
    }
}

/* What a child with guarded streams writes. */
static char *written(void (*child)(void))
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)dup2(fds[1], STDERR_FILENO);
        sw_output_guard();
        child();
        sw_output_end();
        _exit(0);
    }
    (void)close(fds[1]);
    struct printbuf *out = printbuf_new();
    char bytes[4096];
    for (ssize_t n; (n = read(fds[0], bytes, sizeof bytes)) > 0;)
        (void)printbuf_memappend(out, bytes, (int)n);
    (void)close(fds[0]);
    int status = 1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    char *text = sw_strdup(out->buf);
    printbuf_free(out);
    return text;
}

static void print_evil(void)
{
    (void)fprintf(stderr, "%s\n", "e\033[2J");
    (void)printf("o\033[2J %s\n", "\033[1m");
    (void)puts("p\033");
}

static void print_document(void)
{
    (void)printf("\033 message\n");
    sw_output_as_it_is(true);
    (void)printf("\033 document\n");
    sw_output_as_it_is(false);
    (void)printf("\033 message\n");
}

/* Characters over the edges of the stream's buffer. */
static void print_much(void)
{
    for (int i = 0; i < 20000; i++)
        (void)fputs("\xe2\x82\xac\xc2\x9b", stdout);
    (void)fputs("\xe2\x82", stdout);
}

static void streams_are_guarded(void **state)
{
    (void)state;
    SW_AUTO_CHARS *evil = written(print_evil);
    assert_string_equal(evil, "e\\u001b[2J\no\\u001b[2J \\u001b[1m\np\\u001b\n");
    SW_AUTO_CHARS *document = written(print_document);
    assert_string_equal(document, "\\u001b message\n\033 document\n\\u001b message\n");
    SW_AUTO_CHARS *much = written(print_much);
    const char *at = much;
    for (int i = 0; i < 20000; i++, at += 9)
        assert_memory_equal(at, "\xe2\x82\xac\\u009b", 9);
    assert_string_equal(at, "\\xe2\\x82");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays),
        cmocka_unit_test(what_a_terminal_acts_on_is_text),
        cmocka_unit_test(what_is_no_utf8_is_bytes),
        cmocka_unit_test(colours_are_those_of_slipway),
        cmocka_unit_test(nothing_else_comes_out),
        cmocka_unit_test(streams_are_guarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
