/* Logging in: a password with each request, or a token from the realm that the registry names.
 * Source: Docker Registry v2 "Token Authentication Specification" and "OAuth2 Token
 * Authentication". */
#include "chart/registry/call.h"

#include <json-c/printbuf.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "data/json/json.h"
#include "data/json/path.h"
#include "data/text/base64.h"
#include "data/text/percent.h"
#include "data/text/url.h"

enum { TOKEN_LIVES_MS = 60000, MAX_TOKEN_ANSWER = 1 << 20, REDIRECTS = 3 };

static const struct sw_image_ref *ref_of(const struct sw_registry_call *c)
{
    return &c->sources.items[c->at].ref;
}

static bool find_login(const struct sw_registry_call *c, struct sw_login *out)
{
    *out = (struct sw_login){ 0 };
    return sw_logins_find(c->logins, ref_of(c)->host, ref_of(c)->repo, out);
}

/* A token is cached for a repository and a login, so that it is not used for another user. */
static char *token_key(const struct sw_registry_call *c)
{
    struct sw_login login;
    (void)find_login(c, &login);
    return sw_printf("%s|%s|%s|%s", ref_of(c)->host, ref_of(c)->repo,
                     login.source ? login.source : "", login.username ? login.username : "");
}

static char *basic(const struct sw_login *login)
{
    SW_AUTO_CHARS *pair = sw_printf("%s:%s", login->username,
                                    login->password ? login->password : "");
    size_t len;
    SW_AUTO_CHARS *coded = sw_base64_encode(pair, strlen(pair), &len);
    char *header = sw_printf("Authorization: Basic %s", coded);
    OPENSSL_cleanse(pair, strlen(pair));
    OPENSSL_cleanse(coded, len);
    return header;
}

char *call_authorization(struct sw_registry_call *c)
{
    struct sw_login login;
    bool has_login = find_login(c, &login);
    if (login.registry_token)
        return c->challenged ? sw_printf("Authorization: Bearer %s", login.registry_token) : NULL;
    SW_AUTO_CHARS *key = token_key(c);
    const char *token = token_find(c->reg, key);
    if (token)
        return sw_printf("Authorization: Bearer %s", token);
    return c->basic && has_login && login.username ? basic(&login) : NULL;
}

/* ---- a token -----------------------------------------------------------------------------------
 */

static int on_token_data(int http_status SW_UNUSED, const char *bytes, size_t len,
                         struct sw_err *err SW_UNUSED, void *arg)
{
    struct sw_registry_call *c = arg;
    (void)printbuf_memappend(c->body, bytes, (int)len);
    return 0;
}

static void deny(struct sw_registry_call *c, int code, const char *why)
{
    struct sw_login login;
    SW_AUTO_CHARS *logins = sw_logins_sources(c->logins);
    if (find_login(c, &login))
        call_refuse(c, code, code == SW_UNAVAILABLE, "no token with the login of %s: %s",
                    login.source, why);
    else
        call_refuse(c, code, code == SW_UNAVAILABLE,
                    "no token without a login: %s; there is none for it in: %s", why, logins);
}

static void read_token(struct sw_registry_call *c, int status)
{
    SW_AUTO_JSON *doc = NULL;
    SW_AUTO_CHARS *shown = sw_url_shown(c->challenge.realm);
    SW_AUTO_CHARS *why = sw_printf("%s answers HTTP %d", shown, status);
    if (status == 429 || status >= 500) {
        c->challenged = false; /* the retry gets a new challenge first */
        deny(c, SW_UNAVAILABLE, why);
        return;
    }
    if (status != 200) {
        deny(c, status == 401 || status == 403 ? SW_FORBIDDEN : SW_INVALID, why);
        return;
    }
    const char *token = "";
    if (sw_json_parse(c->body->buf, (size_t)c->body->bpos, NULL, &doc, NULL) == 0) {
        token = sw_json_str(doc, "", "token", NULL);
        token = *token ? token : sw_json_str(doc, "", "access_token", NULL);
    }
    if (!*token || strpbrk(token, "\r\n")) {
        deny(c, SW_INVALID, "its answer has no token");
        return;
    }
    int64_t lives_s = sw_json_int(doc, 0, "expires_in", NULL);
    SW_AUTO_CHARS *key = token_key(c);
    token_put(c->reg, key, token, lives_s > 0 && lives_s < 86400 ? lives_s * 1000 : TOKEN_LIVES_MS);
    call_forget_answer(c);
    call_send(c);
}

static void on_token(const struct sw_http_result *r, void *arg)
{
    struct sw_registry_call *c = arg;
    c->transfer = NULL;
    endpoint_leave(c->reg, SW_TAKE(c->token_endpoint));
    if (r->code < 0) {
        SW_AUTO_CHARS *why = sw_strdup(sw_err_text(r->err));
        c->challenged = r->code != SW_UNAVAILABLE;
        deny(c, r->code, why);
    } else {
        read_token(c, r->http_status);
    }
}

static void add_query(char **url, const char *key, const char *value)
{
    SW_AUTO_CHARS *escaped = sw_percent_encode(value, SW_PERCENT_UNRESERVED "/:");
    const char *separator = !**url ? "" : strchr(*url, '?') || !strstr(*url, "://") ? "&" : "?";
    sw_append(url, "%s%s=%s", separator, key, escaped);
}

static void send_for_token(struct sw_registry_call *c, const struct sw_login *login)
{
    SW_AUTO_CHARS *pull = sw_printf("repository:%s:pull", ref_of(c)->repo);
    const char *scope = sw_text_or(c->challenge.scope, pull);
    SW_AUTO_CHARS *url = sw_strdup(c->challenge.realm);
    SW_AUTO_CHARS *form = sw_strdup("");
    bool refresh = login->identity_token;
    SW_AUTO_CHARS *header = !refresh && login->username ? basic(login) : NULL;
    char **to = refresh ? &form : &url;
    if (c->challenge.service)
        add_query(to, "service", c->challenge.service);
    add_query(to, "scope", scope);
    if (refresh) {
        add_query(&form, "grant_type", "refresh_token");
        add_query(&form, "client_id", "slipway");
        add_query(&form, "refresh_token", login->identity_token);
    }
    const char *headers[] = { refresh ? "Content-Type: application/x-www-form-urlencoded" : header,
                              NULL };
    printbuf_reset(c->body);
    c->transfer = sw_http_start(c->token_endpoint->http,
                                &(struct sw_http_spec){ .method = refresh ? "POST" : "GET",
                                                        .url = url,
                                                        .headers = headers,
                                                        .body = refresh ? form : NULL,
                                                        .body_len = refresh ? strlen(form) : 0,
                                                        .answer_ms = c->reg->opts.timeout_ms,
                                                        .idle_ms = c->reg->opts.timeout_ms,
                                                        .max_bytes = MAX_TOKEN_ANSWER,
                                                        /* a body would go wherever it leads */
                                                        .max_redirects = refresh ? 0 : REDIRECTS,
                                                        .on_data = on_token_data,
                                                        .on_done = on_token,
                                                        .arg = c });
}

static void ask_for_token(struct sw_registry_call *c, const struct sw_login *login)
{
    SW_ERR(err);
    __attribute__((cleanup(sw_http_url_done))) struct sw_http_url realm = { 0 };
    if (!c->challenge.realm || sw_http_url_parse(c->challenge.realm, &realm, NULL) < 0) {
        call_refuse(c, SW_INVALID, false, "the registry names no realm for tokens");
        return;
    }
    /* without TLS a password is only sent where the registry is insecure, or from a registry on
     * this machine to this machine */
    bool may_send = sw_streq(realm.scheme, "https") || c->endpoint->insecure ||
                    (sw_http_is_loopback(realm.host) && endpoint_is_local(c->endpoint));
    if ((login->username || login->identity_token) && !may_send) {
        SW_AUTO_CHARS *shown = sw_url_shown(c->challenge.realm);
        call_refuse(c, SW_INVALID, false,
                    "%s issues the tokens, but a login is not sent without TLS", shown);
        return;
    }
    bool usual = sw_streq(realm.port, sw_streq(realm.scheme, "https") ? "443" : "80");
    SW_AUTO_CHARS *host = usual ? sw_strdup(realm.host)
                                : sw_printf("%s:%s", realm.host, realm.port);
    int rc = endpoint_enter(c->reg, host, c->endpoint->insecure, &c->token_endpoint, &err);
    if (rc < 0)
        call_failed(c, rc, false, &err);
    else
        send_for_token(c, login);
}

void call_log_in(struct sw_registry_call *c)
{
    struct sw_login login;
    bool has_login = find_login(c, &login);
    SW_AUTO_CHARS *key = token_key(c);
    token_drop(c->reg, key); /* the registry refused it, or it has expired */
    if (c->challenge.bearer && !login.registry_token) {
        ask_for_token(c, &login);
        return;
    }
    if (login.registry_token) { /* it was not sent unasked */
        call_forget_answer(c);
        call_send(c);
        return;
    }
    if (c->challenge.basic && has_login && login.username && !c->basic) {
        c->basic = true;
        call_forget_answer(c);
        call_send(c);
        return;
    }
    SW_AUTO_CHARS *logins = sw_logins_sources(c->logins);
    if (has_login)
        call_refuse(c, SW_FORBIDDEN, false, "the registry refuses the login of %s", login.source);
    else
        call_refuse(c, SW_FORBIDDEN, false,
                    "the registry requires a login, and there is none for it in: %s", logins);
}
