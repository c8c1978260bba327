/* Names of profiles and of the extended resources that stand for them. */
#include <stdio.h>
#include <string.h>

#include "slicing/mig/mig.h"

static const struct {
    const char *text;
    uint8_t attr;
} attrs[] = {
    /* longer ones before their beginnings; printed in this order */
    { "+me.all", SW_MIG_ME_ALL },
    { "+me", SW_MIG_ME },
    { "+gfx", SW_MIG_GFX },
    { "-me", SW_MIG_NO_ME },
};

/* A number of at most @max without leading zeros. @return 0: none. */
static unsigned read_number(const char **at, const char *end, unsigned max)
{
    const char *p = *at;
    unsigned n = 0;
    if (p < end && *p == '0')
        return 0;
    while (p < end && *p >= '0' && *p <= '9') {
        n = n * 10 + (unsigned)(*p++ - '0');
        if (n > max)
            return 0;
    }
    *at = p;
    return n;
}

static bool read_text(const char **at, const char *end, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

static bool read_profile(const char *at, const char *end, struct sw_mig_profile *p)
{
    unsigned n = read_number(&at, end, UINT8_MAX);
    if (n && read_text(&at, end, "c.")) {
        p->ci = (uint8_t)n;
        n = read_number(&at, end, UINT8_MAX);
    }
    p->gi = (uint8_t)n;
    if (!n || p->ci > p->gi || !read_text(&at, end, "g."))
        return false;
    p->gb = (uint16_t)read_number(&at, end, UINT16_MAX);
    if (!p->gb || !read_text(&at, end, "gb"))
        return false;
    while (at < end) {
        size_t i = 0;
        while (i < SW_COUNT(attrs) && !read_text(&at, end, attrs[i].text))
            i++;
        if (i == SW_COUNT(attrs) || (p->attrs & attrs[i].attr))
            return false;
        p->attrs |= attrs[i].attr;
    }
    const uint8_t media = p->attrs & (SW_MIG_ME | SW_MIG_ME_ALL | SW_MIG_NO_ME);
    return (media & (media - 1)) == 0; /* at most one of them */
}

int sw_mig_profile_parse(const char *text, size_t len_bytes, struct sw_mig_profile *out,
                         struct sw_err *err)
{
    struct sw_mig_profile p = { 0 };
    if (len_bytes >= SW_MIG_NAME_LEN || !read_profile(text, text + len_bytes, &p))
        return sw_err_set(err, SW_INVALID,
                          "'%.*s' is not a MIG profile such as 1g.5gb or 1g.5gb+me",
                          (int)(len_bytes > 80 ? 80 : len_bytes), text);
    if (p.ci == p.gi)
        p.ci = 0; /* a compute instance of all slices is left out of the name */
    *out = p;
    return 0;
}

/* @plus, @minus: how the attributes' first characters are written. */
static char *print(const struct sw_mig_profile *p, const char *plus, char buf[SW_MIG_NAME_LEN])
{
    int n = p->ci ? snprintf(buf, SW_MIG_NAME_LEN, "%uc.%ug.%ugb", p->ci, p->gi, p->gb)
                  : snprintf(buf, SW_MIG_NAME_LEN, "%ug.%ugb", p->gi, p->gb);
    for (size_t i = 0; i < SW_COUNT(attrs) && n < SW_MIG_NAME_LEN; i++)
        if (p->attrs & attrs[i].attr)
            n += snprintf(buf + n, (size_t)(SW_MIG_NAME_LEN - n), "%s%s",
                          attrs[i].text[0] == '+' ? plus : "-", attrs[i].text + 1);
    return buf;
}

char *sw_mig_profile_text(const struct sw_mig_profile *p, char buf[static SW_MIG_NAME_LEN])
{
    return print(p, "+", buf);
}

char *sw_mig_node_label(const char *node, char buf[static SW_MIG_NODE_LABEL_LEN])
{
    const size_t len = strlen(node);
    if (len < SW_MIG_NODE_LABEL_LEN)
        memcpy(buf, node, len + 1);
    else
        (void)snprintf(buf, SW_MIG_NODE_LABEL_LEN, "%016llx",
                       (unsigned long long)sw_fnv64a(node, len));
    return buf;
}

char *sw_mig_resource_text(const struct sw_mig_profile *p, char buf[static SW_MIG_NAME_LEN])
{
    return print(p, "-plus-", buf);
}

bool sw_mig_profile_same_gi(const struct sw_mig_profile *a, const struct sw_mig_profile *b)
{
    return a->gi == b->gi && a->gb == b->gb && a->attrs == b->attrs;
}

bool sw_mig_profile_equal(const struct sw_mig_profile *a, const struct sw_mig_profile *b)
{
    return a->ci == b->ci && sw_mig_profile_same_gi(a, b);
}

/* Names of resources cannot hold '+': ".me" and "-plus-me" become "+me", the rest is copied.
 * @return the length, or 0: too long */
static size_t restore_plus(const char *text, const char *end, char out[SW_MIG_NAME_LEN])
{
    size_t n = 0;
    const char *gb = memmem(text, (size_t)(end - text), "gb", 2);
    while (text < end) {
        if (n + 1 >= SW_MIG_NAME_LEN)
            return 0;
        const bool behind = gb && text > gb;
        if (read_text(&text, end, "-plus-"))
            out[n++] = '+';
        else if (behind && *text == '.' && !(n >= 3 && memcmp(out + n - 3, "+me", 3) == 0)) {
            out[n++] = '+';
            text++;
        } else {
            out[n++] = *text++;
        }
    }
    return n;
}

int sw_mig_resource_parse(const char *name, size_t len_bytes, struct sw_mig_profile *out,
                          enum sw_mig_owner *owner, struct sw_err *err)
{
    const char *at = name, *end = name + len_bytes;
    enum sw_mig_owner whose = SW_MIG_NVIDIA;
    if (!read_text(&at, end, SW_MIG_NVIDIA_PREFIX)) {
        if (!read_text(&at, end, SW_MIG_DAS_PREFIX))
            return sw_err_set(err, SW_NOTFOUND, "'%.*s' is not about MIG slices",
                              (int)(len_bytes > 80 ? 80 : len_bytes), name);
        (void)read_text(&at, end, "mig-"); /* users copy it from NVIDIA's name */
        whose = SW_MIG_DAS;
    }
    char text[SW_MIG_NAME_LEN];
    const size_t len = restore_plus(at, end, text);
    struct sw_mig_profile p;
    if (!len || sw_mig_profile_parse(text, len, &p, NULL) < 0)
        return sw_err_set(err, SW_INVALID, "'%.*s' names no MIG profile such as 1g.5gb",
                          (int)(len_bytes > 80 ? 80 : len_bytes), name);
    *out = p;
    *owner = whose;
    return 0;
}
