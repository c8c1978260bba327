/* WWW-Authenticate, RFC 7235, as Docker's token authentication uses it. */
#include "chart/registry/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip(const char *at, const char *what)
{
    return at + strspn(at, what);
}

/* A value: quoted with \-escapes, or bare. The caller's. */
static char *read_value(const char **at)
{
    const char *from = *at;
    if (*from != '"') {
        size_t len = strcspn(from, ", \t");
        *at = from + len;
        return sw_strndup(from, len);
    }
    char *out = sw_zalloc(strlen(from) + 1, 1), *to = out;
    for (from++; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1])
            from++;
        *to++ = *from;
    }
    *at = *from ? from + 1 : from;
    return out;
}

static void take(struct challenge *c, const char *name, size_t len, char *value)
{
    const struct {
        const char *name;
        char **field;
    } fields[] = { { "realm", &c->realm }, { "service", &c->service }, { "scope", &c->scope } };
    for (size_t i = 0; i < SW_COUNT(fields); i++)
        if (strlen(fields[i].name) == len && strncasecmp(fields[i].name, name, len) == 0 &&
            !*fields[i].field) {
            *fields[i].field = value;
            return;
        }
    free(value);
}

void challenge_read(const char *header, struct challenge *out)
{
    bool bearer = false;
    for (const char *at = skip(header, " \t,"); *at; at = skip(at, " \t,")) {
        size_t len = strcspn(at, " \t,=");
        const char *after = skip(at + len, " \t");
        if (len && *after == '=') { /* a parameter of the scheme before it */
            const char *name = at;
            at = skip(after + 1, " \t");
            char *value = read_value(&at);
            if (bearer)
                take(out, name, len, value);
            else
                free(value);
            continue;
        }
        bearer = len == 6 && strncasecmp(at, "bearer", len) == 0;
        out->bearer |= bearer;
        out->basic |= len == 5 && strncasecmp(at, "basic", len) == 0;
        at += len ? len : 1;
    }
}

void challenge_done(struct challenge *c)
{
    free(c->realm);
    free(c->service);
    free(c->scope);
    *c = (struct challenge){ 0 };
}
