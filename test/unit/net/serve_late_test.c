/* serve: answers that come later, in order, to whoever is still there; and what is too much at
 * once.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/serve/serve.h"

#include <cmocka.h>

static struct sw_loop *loop;
static struct sw_serve *server;
static struct sw_serve_reply *held[8];
static int n_held;
static bool stopped;

static void hold(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                 void *arg SW_UNUSED)
{
    held[n_held++] = reply;
}

static void now(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                void *arg SW_UNUSED)
{
    sw_serve_text(reply, 200, "now");
}

static void on_stopped(void *arg SW_UNUSED)
{
    stopped = true;
}

static void take(const struct sw_serve_request *r, struct sw_serve_reply *reply,
                 void *arg SW_UNUSED)
{
    SW_AUTO_CHARS *text = sw_printf("took %zu", r->body_len);
    sw_serve_text(reply, 200, text);
}

static void much(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                 void *arg SW_UNUSED)
{
    static char text[16 * 1024 * 1024]; /* more than fits into the sockets */
    sw_serve_answer(reply, 200, "x", text, sizeof text);
}

static const struct sw_serve_route routes[] = { { "POST", "/hold", hold },
                                                { "GET", "/now", now },
                                                { "POST", "/take", take },
                                                { "GET", "/much", much } };

static int setup(void **state SW_UNUSED)
{
    SW_ERR(err);
    const struct sw_serve_opts opts = { .routes = routes,
                                        .n_routes = SW_COUNT(routes),
                                        .on_stopped = on_stopped,
                                        .address = "127.0.0.1",
                                        .max_bodies_bytes = 100 * 1000 };
    n_held = 0;
    stopped = false;
    loop = sw_loop_new(NULL);
    return sw_serve_open(loop, &opts, &server, &err);
}

static int teardown(void **state SW_UNUSED)
{
    sw_serve_close(server);
    sw_loop_free(loop);
    return 0;
}

static int dial(void)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)sw_serve_port(server)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void turns(int n_wanted)
{
    for (int i = 0; i < 200 && n_held < n_wanted; i++)
        sw_loop_step(loop, 10);
    assert_int_equal(n_held, n_wanted);
}

/* What has come so far. */
static const char *hear(int fd)
{
    static char text[4096];
    size_t len = 0;
    for (int i = 0; i < 5; i++) {
        sw_loop_step(loop, 10);
        const ssize_t n = recv(fd, text + len, sizeof text - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    return text;
}

#define HOLD "POST /hold HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
#define NOW "GET /now HTTP/1.1\r\n\r\n"

static void test_pipelined_requests_wait_for_their_turn(void **state SW_UNUSED)
{
    const int fd = dial();
    say(fd, HOLD NOW HOLD);
    turns(1);
    assert_string_equal(hear(fd), "");
    sw_serve_text(held[0], 200, "first");
    const char *text = hear(fd);
    assert_non_null(strstr(text, "first"));
    assert_non_null(strstr(strstr(text, "first"), "\r\n\r\nnow"));
    turns(2);
    sw_serve_json(held[1], "{}", 2);
    assert_non_null(strstr(hear(fd), "application/json"));
    say(fd, NOW); /* the connection goes on */
    assert_non_null(strstr(hear(fd), "now"));
    close(fd);
}

static void test_asker_that_left_is_no_trouble(void **state SW_UNUSED)
{
    const int fd = dial();
    say(fd, HOLD);
    turns(1);
    close(fd);
    sw_loop_step(loop, 10);
    sw_serve_text(held[0], 200, "nobody hears it");
    sw_loop_step(loop, 10);
}

static void test_answer_after_close(void **state SW_UNUSED)
{
    const int fd = dial();
    say(fd, HOLD);
    turns(1);
    sw_serve_close(server);
    server = NULL;
    sw_serve_text(held[0], 200, "late");
    close(fd);
}

static void test_stop_waits_for_answers(void **state SW_UNUSED)
{
    const int fd = dial();
    say(fd, HOLD);
    turns(1);
    sw_serve_stop(server);
    assert_string_equal(sw_serve_trouble(server), "going down");
    for (int i = 0; i < 5; i++)
        sw_loop_step(loop, 10);
    assert_false(stopped);
    sw_serve_text(held[0], 200, "last");
    assert_non_null(strstr(hear(fd), "last"));
    close(fd);
    for (int i = 0; i < 400 && !stopped; i++)
        sw_loop_step(loop, 10);
    assert_true(stopped);
}

/* The socket may be full until the loop has turned. */
static void pour(int fd, size_t n)
{
    static const char zeros[16 * 1024];
    while (n) {
        const ssize_t sent = send(fd, zeros, n < sizeof zeros ? n : sizeof zeros, MSG_DONTWAIT);
        n -= sent > 0 ? (size_t)sent : 0;
        sw_loop_step(loop, 0);
    }
}

static void begin(int fd, const char *head, size_t n_body)
{
    say(fd, head);
    pour(fd, n_body);
}

/* An answer, as soon as one comes. */
static const char *answer(int fd)
{
    const char *text = hear(fd);
    for (int i = 0; i < 100 && !*text; i++)
        text = hear(fd);
    return text;
}

static const char *ask(int fd, const char *head, size_t n_body)
{
    begin(fd, head, n_body);
    return answer(fd);
}

#define TAKE(len) "POST /take HTTP/1.1\r\nContent-Length: " #len "\r\n\r\n"

static bool is_refused(const char *answer)
{
    return strncmp(answer, "HTTP/1.1 503 ", 13) == 0 && strstr(answer, "\r\nRetry-After: ") &&
           strstr(answer, "\r\n\r\ntoo many requests");
}

static void test_many_bodies_are_bounded_together(void **state SW_UNUSED)
{
    const int first = dial(), second = dial(), chunked = dial(), polite = dial();
    struct sw_serve_counts counts;
    begin(first, TAKE(70000), 20000);
    assert_string_equal(hear(first), "");
    const char *text = ask(second, TAKE(70000), 70000);
    assert_true(is_refused(text));
    assert_null(strstr(text, "close"));
    text = ask(chunked, "POST /take HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 0);
    assert_true(is_refused(text));
    assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
    text = ask(polite,
               "POST /take HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 70000\r\n\r\n", 0);
    assert_true(is_refused(text));
    sw_serve_count(server, &counts);
    assert_int_equal(counts.overloads, 3);
    assert_int_equal(counts.open_conns, 2);
    assert_non_null(strstr(ask(second, TAKE(30000), 30000), "took 30000")); /* there is room */
    pour(first, 50000);
    assert_non_null(strstr(answer(first), "took 70000"));
    assert_non_null(strstr(ask(second, TAKE(70000), 70000), "took 70000"));
    close(first), close(second), close(chunked), close(polite);
}

static void test_small_bodies_are_always_taken(void **state SW_UNUSED)
{
    int fds[16]; /* more than fits, together */
    for (size_t i = 0; i < SW_COUNT(fds); i++) {
        fds[i] = dial();
        begin(fds[i], TAKE(8192), 8191);
        assert_string_equal(hear(fds[i]), "");
    }
    for (size_t i = 0; i < SW_COUNT(fds); i++) {
        pour(fds[i], 1);
        assert_non_null(strstr(answer(fds[i]), "took 8192"));
        close(fds[i]);
    }
}

static void test_a_body_that_is_alone_may_be_larger(void **state SW_UNUSED)
{
    const int fd = dial();
    assert_non_null(strstr(ask(fd, TAKE(200000), 200000), "took 200000"));
    close(fd);
}

static void test_answers_that_nobody_takes_count(void **state SW_UNUSED)
{
    const int lazy = dial(), fd = dial();
    say(lazy, "GET /much HTTP/1.1\r\n\r\n");
    assert_string_equal(hear(fd), "");
    assert_true(is_refused(ask(fd, TAKE(70000), 70000)));
    close(lazy);
    assert_string_equal(hear(fd), "");
    assert_non_null(strstr(ask(fd, TAKE(70000), 70000), "took 70000"));
    close(fd);
}

static void test_addresses(void **state SW_UNUSED)
{
    static const struct {
        const char *text, *address;
        int port;
    } good[] = { { ":8081", NULL, 8081 },
                 { "8081", NULL, 8081 },
                 { "127.0.0.1:0", "127.0.0.1", 0 },
                 { "[::1]:65535", "::1", 65535 } };
    static const char *const bad[] = { "", ":", "a:b", "::1:80", ":65536", ":-1", ":+1", "x:1y" };
    SW_ERR(err);
    for (size_t i = 0; i < SW_COUNT(good); i++) {
        SW_AUTO_CHARS *address = NULL;
        int port = -1;
        assert_int_equal(sw_serve_parse_address(good[i].text, &address, &port, &err), 0);
        assert_true(sw_streq(address, good[i].address));
        assert_int_equal(port, good[i].port);
    }
    for (size_t i = 0; i < SW_COUNT(bad); i++) {
        char *address = NULL;
        int port;
        assert_int_equal(sw_serve_parse_address(bad[i], &address, &port, &err), SW_INVALID);
    }
}

static void test_a_server_at_an_address_given_as_text(void **state SW_UNUSED)
{
    SW_ERR(err);
    struct sw_serve *none = NULL, *some = NULL;
    const struct sw_serve_opts opts = { .routes = routes, .n_routes = SW_COUNT(routes) };
    assert_int_equal(sw_serve_open_at(loop, NULL, &opts, &none, &err), 0);
    assert_int_equal(sw_serve_open_at(loop, "0", &opts, &none, &err), 0);
    assert_int_equal(sw_serve_open_at(loop, "here", &opts, &none, &err), SW_INVALID);
    assert_null(none);
    assert_int_equal(sw_serve_open_at(loop, "127.0.0.1:0", &opts, &some, &err), 0);
    assert_true(sw_serve_port(some) > 0);
    sw_serve_close(some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipelined_requests_wait_for_their_turn, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_asker_that_left_is_no_trouble, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answer_after_close, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_waits_for_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_bodies_are_bounded_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_bodies_are_always_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_body_that_is_alone_may_be_larger, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answers_that_nobody_takes_count, setup, teardown),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test_setup_teardown(test_a_server_at_an_address_given_as_text, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
