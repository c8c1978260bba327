/* URLs as people write them: what of them may be shown, and whose they are. */
#include "data/text/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

static void nothing_secret_of_a_url_is_shown(void **state SW_UNUSED)
{
    static const struct {
        const char *url, *shown;
    } rows[] = {
        { "https://user:s3cret@host/charts", "https://user:***@host/charts" },
        { "HTTPS://user:s3cret@host/charts", "HTTPS://user:***@host/charts" },
        { "oci://user:s3cret@host/charts", "oci://user:***@host/charts" },
        { "Git+Https://user:s3cret@host/r?ref=v1", "Git+Https://user:***@host/r?ref=v1" },
        { "s3x://user:s3cret@host", "s3x://user:***@host" },
        { "user:s3cret@host/charts", "user:***@host/charts" },
        { "https://s3cret@host/charts", "https://***@host/charts" },
        { "git+ssh://git@host/repo.git", "git+ssh://git@host/repo.git" },
        { "git+ssh://git:s3cret@host/repo", "git+ssh://git:***@host/repo" },
        { "s3cret@host/a?ssh://", "***@host/a?***" },
        { "https://user:s3c@ret@host/a", "https://user:***@host/a" },
        { "https://user:s3/cret@host/a", "https://user:***@host/a" },
        { "https://user:s3?c#ret@host/a", "https://user:***@host/a" },
        { "https://host/i.yaml?token=s3cret&ref=v1", "https://host/i.yaml?token=***&ref=v1" },
        { "https://host/i.yaml?s3cret", "https://host/i.yaml?***" },
        { "https://host/i.yaml?a=s3cret;b=s3cret", "https://host/i.yaml?a=***;b=***" },
        { "https://host/i.yaml?path=a#s3cret", "https://host/i.yaml?path=a#***" },
        { "https://host/i.yaml#s3cret", "https://host/i.yaml#***" },
        { "oci://host:5000/a/b@sha256:00ff", "oci://host:5000/a/b@sha256:00ff" },
        { "oci://host/a:1.2@sha256:00ff", "oci://host/a:1.2@sha256:00ff" },
        { "https://[::1]:80/a@b", "https://[::1]:80/a@b" },
        { "https://host/@scope/a", "https://host/@scope/a" },
        { "file:///srv/a@b", "file:///srv/a@b" },
        { "cm://ns/name", "cm://ns/name" },
        { "recipes/a", "recipes/a" },
        { "", "" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *shown = sw_url_shown(rows[i].url);
        assert_string_equal(shown, rows[i].shown);
        assert_null(strstr(shown, "s3cret"));
    }
}

static void passwords_in_a_text_are_blanked(void **state SW_UNUSED)
{
    static const struct {
        const char *text, *blanked;
    } rows[] = {
        { "get \"https://u:s3cret@h/a\": no", "get \"https://u:******@h/a\": no" },
        { "a=http://u:s3cret@h b=HTTP://s3cret@h", "a=http://u:******@h b=HTTP://******@h" },
        { "git+ssh://git@h ssh://git:s3cret@h", "git+ssh://git@h ssh://git:******@h" },
        { "https://h/a@b me@h ://@ ://", "https://h/a@b me@h ://@ ://" },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        SW_AUTO_CHARS *text = sw_strdup(rows[i].text);
        sw_url_blank(text);
        assert_string_equal(text, rows[i].blanked);
    }
}

static void a_url_has_one_server(void **state SW_UNUSED)
{
    static const struct {
        const char *text, *host, *port;
    } rows[] = {
        { "https://Host.Example/charts", "host.example", "443" },
        { "HTTP://host", "host", "80" },
        { "oci://host:5000/a", "host", "5000" },
        { "git+ssh://git@host/repo", "host", "22" },
        { "https://good@evil/charts", "evil", "443" },
        { "https://evil?@good", "evil", "443" },
        { "host", "host", NULL },
        { "host:8443", "host", "8443" },
        { "https://[FD00::1]:8443/a", "[fd00::1]", "8443" },
        { "ftp://host", "host", NULL },
    };
    for (size_t i = 0; i < SW_COUNT(rows); i++) {
        struct sw_url_server server;
        assert_true(sw_url_server(rows[i].text, &server));
        assert_string_equal(server.host, rows[i].host);
        assert_true(sw_streq(server.port, rows[i].port));
        sw_url_server_done(&server);
        sw_url_server_done(&server);
    }
    struct sw_url_server none = { 0 };
    assert_false(sw_url_server("", &none));
    assert_false(sw_url_server("file:///srv", &none));
    assert_null(none.host);
}

static bool same(const char *a, const char *b)
{
    struct sw_url_server one, two;
    assert_true(sw_url_server(a, &one) && sw_url_server(b, &two));
    bool is_same = sw_url_server_is(&one, &two);
    sw_url_server_done(&one);
    sw_url_server_done(&two);
    return is_same;
}

static void servers_are_the_same_by_host_and_port(void **state SW_UNUSED)
{
    assert_true(same("https://host/a", "oci://HOST/b"));
    assert_true(same("host", "https://host:8443"));
    assert_false(same("https://host", "http://host"));
    assert_false(same("https://host", "https://host.evil"));
    assert_false(same("https://host:1", "https://host:2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_secret_of_a_url_is_shown),
        cmocka_unit_test(passwords_in_a_text_are_blanked),
        cmocka_unit_test(a_url_has_one_server),
        cmocka_unit_test(servers_are_the_same_by_host_and_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
