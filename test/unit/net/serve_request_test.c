/* HTTP/1.1 requests as clients really send them: in pieces of any size, with chunks, broken. */
#include "net/serve/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#include <cmocka.h>

static const struct sw_serve_limits limits = { .head = 64 * 1024, .body = 3 * 1024 * 1024 };

/* Read @text, of which @step bytes more are there at each turn. @buf is the caller's, of its size.
 */
static int read_steps(const char *text, size_t step, char *buf, struct sw_serve_request *r)
{
    struct sw_serve_progress p = { 0 };
    const size_t len = strlen(text);
    int rc = 0;
    for (size_t have = 0; have < len && rc == 0;) {
        const size_t n = len - have < step ? len - have : step;
        memcpy(buf + have, text + have, n);
        have += n;
        rc = sw_serve_next(&p, buf, have, limits, r);
    }
    return rc;
}

static void assert_bytes(const char *at, size_t len, const char *expected)
{
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(at, expected, len);
}

static void a_request_is_read_in_pieces_of_any_size(void **state SW_UNUSED)
{
    static const char text[] = "POST /api/v1/pods?limit=5&x HTTP/1.1\r\nHost: h\r\n"
                               "X-Thing:  two words \r\nContent-Length: 5\r\n\r\nhello";
    for (size_t step = 1; step < sizeof text; step++) {
        char buf[sizeof text];
        struct sw_serve_request r;
        assert_int_equal(read_steps(text, step, buf, &r), 1);
        assert_bytes(r.method, r.method_len, "POST");
        assert_bytes(r.path, r.path_len, "/api/v1/pods");
        assert_bytes(r.path, r.target_len, "/api/v1/pods?limit=5&x");
        assert_bytes(r.body, r.body_len, "hello");
        assert_int_equal(r.total_len, strlen(text));
        assert_true(r.keep_alive);
        SW_AUTO_CHARS *thing = sw_serve_header(&r, "x-thing");
        assert_string_equal(thing, "two words");
        assert_null(sw_serve_header(&r, "x-other"));
    }
}

static void the_absolute_form_is_understood(void **state SW_UNUSED)
{
    char buf[128];
    struct sw_serve_request r;
    assert_int_equal(read_steps("HEAD http://host:80/a?b HTTP/1.0\r\n\r\n", 200, buf, &r), 1);
    assert_bytes(r.path, r.path_len, "/a");
    assert_true(r.is_head);
    assert_false(r.keep_alive);
}

static void chunks_are_joined(void **state SW_UNUSED)
{
    static const char text[] = "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n";
    for (size_t step = 1; step < sizeof text; step++) {
        char buf[sizeof text];
        struct sw_serve_request r;
        assert_int_equal(read_steps(text, step, buf, &r), 1);
        assert_bytes(r.body, r.body_len, "abc0123456789");
        assert_int_equal(r.total_len, strlen(text));
    }
}

static void what_is_no_http_is_refused(void **state SW_UNUSED)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        { "hello\r\n\r\n", 400 },
        { "\x16\x03\x01\x02", 400 }, /* TLS: there will be no end of a line */
        { "get / HTTP/1.1\r\n\r\n", 400 },
        { "Get / HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/3\r\n\r\n", 505 },
        { "GET / SPDY/3\r\n\r\n", 400 },
        { "GET x HTTP/1.1\r\n\r\n", 400 },
        { "GET http://x HTTP/1.1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nno colon\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\na b: c\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413 },
        { "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501 },
        { "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400 },
        { "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413 },
        { "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400 },
    };
    for (size_t i = 0; i < SW_COUNT(cases); i++) {
        char buf[128];
        struct sw_serve_request r;
        assert_int_equal(read_steps(cases[i].text, 7, buf, &r), cases[i].status);
    }
}

static void a_head_without_end_is_refused(void **state SW_UNUSED)
{
    static char text[64 * 1024 + 64];
    char *buf = sw_alloc(sizeof text);
    struct sw_serve_request r;
    memset(text, 'a', sizeof text - 1);
    memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
    assert_int_equal(read_steps(text, 32, buf, &r), 431);
    free(buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_read_in_pieces_of_any_size),
        cmocka_unit_test(the_absolute_form_is_understood),
        cmocka_unit_test(chunks_are_joined),
        cmocka_unit_test(what_is_no_http_is_refused),
        cmocka_unit_test(a_head_without_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
