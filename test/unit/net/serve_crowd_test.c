/* serve: many connections, and what one of them may take. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "net/serve/serve.h"

#include <cmocka.h>

static struct sw_loop *loop;
static struct sw_serve *server;
static int n_much, n_now, n_now_at_first, n_slow;

static void now(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                void *arg SW_UNUSED)
{
    n_now++;
    sw_serve_text(reply, 200, "now");
}

static void first(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                  void *arg SW_UNUSED)
{
    n_now_at_first = n_now;
    sw_serve_text(reply, 200, "first");
}

static void much(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                 void *arg SW_UNUSED)
{
    static char text[16 * 1024 * 1024]; /* more than fits into the sockets */
    n_much++;
    sw_serve_answer(reply, 200, "x", text, sizeof text);
}

static void take(const struct sw_serve_request *r, struct sw_serve_reply *reply,
                 void *arg SW_UNUSED)
{
    SW_AUTO_CHARS *text = sw_printf("took %zu", r->body_len);
    sw_serve_text(reply, 200, text);
}

static void nap(void)
{
    const struct timespec two_ms = { .tv_nsec = 2 * 1000 * 1000 };
    (void)nanosleep(&two_ms, NULL);
}

static void slow(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                 void *arg SW_UNUSED)
{
    n_slow++;
    nap();
    sw_serve_text(reply, 200, "slow");
}

/* An answer in twenty steps, of 2 ms each. */
static struct {
    struct sw_serve_reply *reply;
    const char *body;
    size_t len;
    int n, n_over;
} work;

static bool step(void *arg SW_UNUSED)
{
    nap();
    if (++work.n < 20)
        return true;
    SW_AUTO_CHARS *text = sw_printf("%.*s, in %d steps", (int)work.len, work.body, work.n);
    sw_serve_text(work.reply, 200, text);
    return false;
}

static void over(void *arg SW_UNUSED)
{
    work.n_over++;
}

static void steps(const struct sw_serve_request *r, struct sw_serve_reply *reply,
                  void *arg SW_UNUSED)
{
    work.reply = reply;
    work.body = r->body;
    work.len = r->body_len;
    sw_serve_work(reply, step, over, NULL);
}

static void on_watch_over(void *arg SW_UNUSED)
{
}

static void watch(const struct sw_serve_request *r SW_UNUSED, struct sw_serve_reply *reply,
                  void *arg SW_UNUSED)
{
    sw_serve_on_close(reply, on_watch_over, NULL);
    sw_serve_begin(reply, 200, "x", NULL);
}

static const struct sw_serve_route routes[] = {
    { "GET", "/now", now },     { "GET", "/first", first }, { "GET", "/much", much },
    { "GET", "/watch", watch }, { "GET", "/slow", slow },   { "POST", "/steps", steps },
    { "POST", "/take", take }
};

static int setup(void **state SW_UNUSED)
{
    n_much = n_now = n_now_at_first = n_slow = 0;
    memset(&work, 0, sizeof work);
    loop = sw_loop_new(NULL);
    return 0;
}

static int teardown(void **state SW_UNUSED)
{
    sw_serve_close(SW_TAKE(server));
    sw_loop_free(loop);
    return 0;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* What has come so far. */
static const char *hear(int fd)
{
    static char text[16 * 1024];
    size_t len = 0;
    for (int i = 0; i < 5; i++) {
        sw_loop_step(loop, 10);
        const ssize_t n = recv(fd, text + len, sizeof text - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    return text;
}

#define NOW "GET /now HTTP/1.1\r\n\r\n"

/* A connection from 127.0.0.@last to the server. */
static int dial_from(int last)
{
    const struct sockaddr_in from = { .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(0x7f000000U + (uint32_t)last) };
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)sw_serve_port(server)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Has the server hung up? */
static bool is_closed(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static int open_small(const char *trusted)
{
    SW_ERR(err);
    const struct sw_serve_opts opts = { .routes = routes,
                                        .n_routes = SW_COUNT(routes),
                                        .address = "127.0.0.1",
                                        .max_conns = 16,
                                        .max_bodies_bytes = 100 * 1000,
                                        .trusted_peers = trusted };
    sw_serve_close(SW_TAKE(server));
    return sw_serve_open(loop, &opts, &server, &err);
}

static void a_new_connection_takes_the_place_of_one_that_never_asked(void **state SW_UNUSED)
{
    int idle[16];
    assert_int_equal(open_small(NULL), 0);
    const int served = dial_from(20);
    say(served, NOW);
    assert_non_null(strstr(hear(served), "now"));
    for (int i = 0; i < 15; i++)
        idle[i] = dial_from(2 + i);
    (void)hear(served);
    const int honest = dial_from(30);
    say(honest, NOW);
    assert_non_null(strstr(hear(honest), "now"));
    assert_true(is_closed(idle[0]));
    assert_false(is_closed(idle[1]));
    assert_false(is_closed(served)); /* older, but it has asked */
    struct sw_serve_counts counts;
    sw_serve_count(server, &counts);
    assert_int_equal(counts.open_conns, 16);
    assert_int_equal(counts.crowded_out, 1);
    for (int i = 0; i < 15; i++)
        (void)close(idle[i]);
    (void)close(served);
    (void)close(honest);
}

static void one_address_has_a_quarter_of_the_connections(void **state SW_UNUSED)
{
    int many[6];
    assert_int_equal(open_small(NULL), 0);
    for (int i = 0; i < 6; i++)
        many[i] = dial_from(2);
    (void)hear(many[5]);
    for (int i = 0; i < 6; i++)
        assert_int_equal(is_closed(many[i]), i < 2);
    for (int i = 0; i < 6; i++)
        (void)close(many[i]);
}

static void a_trusted_address_may_have_all(void **state SW_UNUSED)
{
    int many[6];
    assert_int_equal(open_small("fd00::/8,127.0.0.2/31"), 0);
    for (int i = 0; i < 6; i++)
        many[i] = dial_from(3);
    (void)hear(many[5]);
    for (int i = 0; i < 6; i++)
        assert_false(is_closed(many[i]));
    for (int i = 0; i < 6; i++)
        (void)close(many[i]);
    SW_ERR(err);
    struct sw_serve *other = NULL;
    assert_int_equal(sw_serve_open(loop, &(struct sw_serve_opts){ .trusted_peers = "10.0.0.0/33" },
                                   &other, &err),
                     SW_INVALID);
    assert_non_null(strstr(sw_err_text(&err), "10.0.0.0/33"));
}

static void a_range_of_ipv6_trusts_no_ipv4_address(void **state SW_UNUSED)
{
    static const char *const ranges[] = { "::1", "::/0", "::ffff:0:0/96" };
    for (size_t i = 0; i < SW_COUNT(ranges); i++) {
        int many[6], n_closed = 0;
        assert_int_equal(open_small(ranges[i]), 0);
        for (int k = 0; k < 6; k++)
            many[k] = dial_from(3);
        (void)hear(many[5]);
        for (int k = 0; k < 6; k++)
            n_closed += is_closed(many[k]);
        assert_int_equal(n_closed, 2);
        for (int k = 0; k < 6; k++)
            (void)close(many[k]);
    }
}

/* Who asks again and again and reads nothing is not asked for more memory than one answer takes. */
static void a_request_is_served_when_the_answer_before_it_was_taken(void **state SW_UNUSED)
{
    static char bytes[1 << 20];
    assert_int_equal(open_small(NULL), 0);
    const int lazy = dial_from(2);
    for (int i = 0; i < 8; i++)
        say(lazy, "GET /much HTTP/1.1\r\n\r\n");
    (void)hear(lazy);
    assert_int_equal(n_much, 1);
    for (int i = 0; i < 4000 && n_much < 8; i++) {
        (void)recv(lazy, bytes, sizeof bytes, MSG_DONTWAIT);
        sw_loop_step(loop, 1);
    }
    assert_int_equal(n_much, 8);
    (void)close(lazy);
}

/* One answer a turn: who sends many small requests in one piece does not keep others waiting. */
static void many_requests_in_one_piece_are_served_in_turns(void **state SW_UNUSED)
{
    assert_int_equal(open_small(NULL), 0);
    const int busy = dial_from(2), fd = dial_from(3);
    (void)hear(fd);
    n_now = 0;
    for (int i = 0; i < 100; i++)
        say(busy, NOW);
    say(fd, "GET /first HTTP/1.1\r\n\r\n");
    for (int i = 0; i < 100 && n_now < 100; i++)
        (void)hear(busy);
    assert_int_equal(n_now, 100);
    assert_true(n_now_at_first <= 2);
    (void)close(busy);
    (void)close(fd);
}

/* However many connections of another address ask, and however long what they ask for takes. */
static void who_asks_for_little_waits_for_one_other_at_most(void **state SW_UNUSED)
{
    int busy[4];
    assert_int_equal(open_small(NULL), 0);
    for (int i = 0; i < 4; i++) {
        busy[i] = dial_from(2);
        for (int k = 0; k < 50; k++)
            say(busy[i], "GET /slow HTTP/1.1\r\n\r\n");
    }
    const int fd = dial_from(3);
    (void)hear(fd);
    for (int k = 0; k < 5; k++) {
        const int before = n_slow;
        say(fd, NOW);
        for (int i = 0; i < 100 && n_now == k; i++)
            sw_loop_step(loop, 10);
        assert_int_equal(n_now, k + 1);
        assert_true(n_slow - before <= 2); /* the one that is under way, and one in this turn */
    }
    assert_true(n_slow < 200); /* else none of them waited */
    (void)close(fd);
    for (int i = 0; i < 4; i++)
        (void)close(busy[i]);
}

/* An answer that takes long is made in steps, which let others go first. */
static void steps_of_an_answer_come_in_turns_with_others(void **state SW_UNUSED)
{
    assert_int_equal(open_small(NULL), 0);
    const int busy = dial_from(2), fd = dial_from(3);
    say(busy, "POST /steps HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello" NOW);
    for (int i = 0; i < 100 && !work.reply; i++)
        sw_loop_step(loop, 10);
    say(fd, NOW);
    for (int i = 0; i < 100 && !n_now; i++)
        sw_loop_step(loop, 10);
    assert_int_equal(n_now, 1);
    assert_true(work.n > 0 && work.n <= 3);
    SW_AUTO_CHARS *text = sw_strdup("");
    for (int i = 0; i < 1000 && !strstr(text, "now"); i++) {
        char *more = sw_printf("%s%s", text, hear(busy));
        free(text);
        text = more;
    }
    assert_non_null(strstr(text, "hello, in 20 steps")); /* of the request as it was */
    assert_non_null(strstr(text, "now"));                /* then comes the next one */
    assert_int_equal(work.n_over, 1);
    (void)close(busy);
    (void)close(fd);
}

static void no_step_is_made_for_who_has_left(void **state SW_UNUSED)
{
    assert_int_equal(open_small(NULL), 0);
    const int busy = dial_from(2);
    say(busy, "POST /steps HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello");
    for (int i = 0; i < 100 && !work.reply; i++)
        sw_loop_step(loop, 10);
    sw_serve_drop(server);
    assert_int_equal(work.n_over, 1);
    const int n = work.n;
    for (int i = 0; i < 10; i++)
        sw_loop_step(loop, 10);
    assert_int_equal(work.n, n);
    (void)close(busy);
}

#define TAKE "POST /take HTTP/1.1\r\nContent-Length: 40000\r\n\r\n"

/* Who has begun large requests and does not go on does not keep a smaller one of another away. */
static void a_body_takes_the_room_of_who_holds_more(void **state SW_UNUSED)
{
    static char body[40001];
    assert_int_equal(open_small(NULL), 0);
    const int hostile[] = { dial_from(2), dial_from(2) }, own = dial_from(3);
    memset(body, ' ', sizeof body - 1);
    for (size_t i = 0; i < 2; i++) {
        say(hostile[i], TAKE);
        (void)hear(hostile[i]);
    }
    const int third = dial_from(2);
    say(third, TAKE);
    say(third, body);
    assert_non_null(strstr(hear(third), "HTTP/1.1 503 ")); /* of the same address */
    say(own, TAKE);
    say(own, body);
    assert_non_null(strstr(hear(own), "took 40000"));
    assert_true(is_closed(hostile[0])); /* the one that is late most */
    assert_false(is_closed(hostile[1]));
    (void)close(hostile[0]), (void)close(hostile[1]), (void)close(third), (void)close(own);
}

/* Answers that do not end keep no other address away. */
static void a_new_connection_takes_the_place_of_a_watch(void **state SW_UNUSED)
{
    int fds[16];
    assert_int_equal(open_small(NULL), 0);
    for (int i = 0; i < 16; i++) {
        fds[i] = dial_from(2 + i / 4);
        say(fds[i], "GET /watch HTTP/1.1\r\n\r\n");
        assert_non_null(strstr(hear(fds[i]), " 200 "));
    }
    const int own = dial_from(9);
    say(own, NOW);
    assert_non_null(strstr(hear(own), "now"));
    (void)close(own);
    for (int i = 0; i < 16; i++)
        (void)close(fds[i]);
    (void)hear(own);
}

/* Of answers that nobody takes, those of the address that has most are given up. */
static void answers_that_are_not_taken_are_bounded_together(void **state SW_UNUSED)
{
    static char bytes[1 << 20];
    assert_int_equal(open_small(NULL), 0);
    const int lazy[] = { dial_from(2), dial_from(2) }, own = dial_from(3);
    for (size_t i = 0; i < 2; i++) {
        say(lazy[i], "GET /much HTTP/1.1\r\n\r\n");
        (void)hear(own);
    }
    size_t n_closed = 0;
    for (size_t i = 0; i < 2; i++) {
        ssize_t n = 1;
        for (int k = 0; k < 100 && n > 0; k++) {
            n = recv(lazy[i], bytes, sizeof bytes, MSG_DONTWAIT);
            sw_loop_step(loop, 1);
        }
        n_closed += n == 0 || (n < 0 && errno == ECONNRESET);
    }
    assert_int_equal(n_closed, 1); /* the other one is alone then */
    say(own, NOW);
    assert_non_null(strstr(hear(own), "now"));
    (void)close(lazy[0]), (void)close(lazy[1]), (void)close(own);
}

/* Heads that do not end keep no other address away, and count as bodies do. */
static void heads_that_do_not_end_are_bounded_together(void **state SW_UNUSED)
{
    static char head[12 * 1024 + 1];
    int fds[16], n_closed = 0;
    assert_int_equal(open_small(NULL), 0);
    memset(head, 'x', sizeof head - 1);
    memcpy(head, "GET /", 5);
    for (int i = 0; i < 12; i++) {
        fds[i] = dial_from(2 + i / 4);
        say(fds[i], head);
        (void)hear(fds[i]);
    }
    for (int i = 0; i < 12; i++)
        n_closed += is_closed(fds[i]);
    assert_int_equal(n_closed, 4); /* eight of 12 KiB fit into 100,000 bytes */
    const int own = dial_from(9);
    say(own, "GET /now HTTP/1.1\r\nX: ");
    (void)hear(own);
    say(own, "y\r\n\r\n");
    assert_non_null(strstr(hear(own), "now"));
    (void)close(own);
    for (int i = 0; i < 12; i++)
        (void)close(fds[i]);
    (void)hear(own);
}

/* What of a request has come is kept, in no more memory than it takes. */
static void a_request_that_comes_in_pieces_is_served(void **state SW_UNUSED)
{
    static char body[40001];
    assert_int_equal(open_small(NULL), 0);
    const int fd = dial_from(2);
    memset(body, ' ', sizeof body - 1);
    for (const char *c = NOW; *c; c++) {
        say(fd, (char[]){ *c, '\0' });
        if (strstr(hear(fd), "now"))
            break;
    }
    say(fd, TAKE);
    (void)hear(fd);
    for (size_t i = 0; i < 40000; i += 5000) {
        (void)hear(fd);
        assert_int_equal(write(fd, body + i, 5000), 5000);
    }
    assert_non_null(strstr(hear(fd), "took 40000"));
    (void)close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_connection_takes_the_place_of_one_that_never_asked,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(one_address_has_a_quarter_of_the_connections, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_trusted_address_may_have_all, setup, teardown),
        cmocka_unit_test_setup_teardown(a_range_of_ipv6_trusts_no_ipv4_address, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_is_served_when_the_answer_before_it_was_taken,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_body_takes_the_room_of_who_holds_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_connection_takes_the_place_of_a_watch, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(answers_that_are_not_taken_are_bounded_together, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(heads_that_do_not_end_are_bounded_together, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_request_that_comes_in_pieces_is_served, setup, teardown),
        cmocka_unit_test_setup_teardown(who_asks_for_little_waits_for_one_other_at_most, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(steps_of_an_answer_come_in_turns_with_others, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(no_step_is_made_for_who_has_left, setup, teardown),
        cmocka_unit_test_setup_teardown(many_requests_in_one_piece_are_served_in_turns, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
