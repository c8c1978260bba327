/* A cluster that two processes go on with: what one does is nothing to the other. */
#include "emulator/emulator/api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A client that has sent a whole request, of which the server does not know yet. */
static int send_early(struct api *api, const char *name)
{
    SW_AUTO_CHARS *body = sw_printf("{\"metadata\":{\"name\":\"%s\"}}", name);
    SW_AUTO_CHARS *text = sw_printf("POST " CONFIG_MAPS " HTTP/1.1\r\nHost: h\r\nContent-Type: "
                                    "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                                    strlen(body), body);
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)strtol(
                                  strrchr(sw_emulator_url(api->emu), ':') + 1, NULL, 10)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

static bool has(struct api *api, const char *name)
{
    const struct sw_emu_kind *kind = sw_store_find_resource(api->store, "", "v1", "configmaps");
    json_object *doc = sw_store_get(api->store, kind, "default", name);
    return doc != NULL;
}

/* @return whether @check, in a child, says that all is well */
static bool in_child(struct api *api, bool (*check)(struct api *api, void *arg), void *arg)
{
    int status;
    pid_t pid = sw_emulator_fork(api->emu);
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)signal(SIGPIPE, SIG_IGN);
        api->multi = curl_multi_init(); /* the other's connections are not ours */
        _exit(check(api, arg) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

static bool finds_it(struct api *api, void *name)
{
    api_settle(api);
    return has(api, name);
}

static void what_clients_had_sent_is_handled_in_both(void **state)
{
    struct api *api = *state;
    char text[16] = "";
    int first = send_early(api, "first");
    assert_true(in_child(api, finds_it, "first"));
    int second = send_early(api, "second");
    assert_true(in_child(api, finds_it, "second"));
    assert_false(has(api, "first"));
    assert_false(has(api, "second"));
    api_settle(api);
    assert_true(has(api, "first"));
    assert_true(has(api, "second"));
    assert_int_equal(read(first, text, 12), 12); /* nobody has read it instead of us */
    assert_string_equal(text, "HTTP/1.1 201");
    (void)close(first);
    (void)close(second);
}

static bool writes(struct api *api, void *url)
{
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"childs\"}}");
    return has(api, "childs") && strcmp(sw_emulator_url(api->emu), url) != 0;
}

static void each_has_its_own_address_and_objects(void **state)
{
    struct api *api = *state;
    SW_AUTO_CHARS *url = sw_strdup(sw_emulator_url(api->emu));
    assert_true(in_child(api, writes, url));
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"parents\"}}");
    assert_string_equal(sw_emulator_url(api->emu), url);
    assert_true(has(api, "parents"));
    assert_false(has(api, "childs"));
}

/* A watch of the parent goes on; in the child it has ended, as its client's death would end it. */
static bool writes_too(struct api *api, void *arg)
{
    api_settle(api);
    return writes(api, arg);
}

static void a_watch_of_the_parent_goes_on(void **state)
{
    struct api *api = *state;
    struct call *watch = api_begin(
        api, "GET", CONFIG_MAPS "?watch=1&fieldSelector=metadata.name%3Dafter", NULL, NULL, NULL);
    for (int i = 0; i < 100; i++)
        assert_false(api_turn(watch));
    assert_true(in_child(api, writes_too, ""));
    api_must(api, 201, "POST", CONFIG_MAPS, NULL, "{\"metadata\":{\"name\":\"after\"}}");
    api_lines(watch, 1);
    SW_AUTO_JSON *event = api_event(watch, 0);
    assert_string_equal(str(event, "object", "metadata", "name"), "after");
    struct answer a = api_end(watch);
    answer_done(&a);
}

static int setup(void **state)
{
    *state = api_open();
    return 0;
}

static int teardown(void **state)
{
    api_close(*state);
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(what_clients_had_sent_is_handled_in_both),
        T(each_has_its_own_address_and_objects),
        T(a_watch_of_the_parent_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
