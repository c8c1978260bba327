/* Time zones: TZif files (RFC 8536) and the POSIX rule at their end. */
#include <stdlib.h>
#include <string.h>

#include "data/go/gotime.h"
#include "data/go/gotime_layout.h"
#include "data/go/text.h"

struct kind {
    int offset;
    bool dst;
    const char *abbreviation;
};

struct transition {
    int64_t at;
    const struct kind *kind;
};

/* "Mm.w.d/time", "Jn", "n": when a POSIX rule begins. */
struct rule {
    char form; /* 'M', 'J' or 'n' */
    int month, week, day;
    int seconds; /* of the day */
};

struct sw_zone {
    const char *name; /* as Go's Location has it */
    struct kind *kinds;
    size_t n_kinds;
    struct transition *transitions;
    size_t n_transitions;
    struct kind std, dst; /* after the last transition; std.abbreviation NULL: no rule */
    struct rule dst_begins, dst_ends;
    bool has_dst;
};

/* ---- reading a file ---- */

struct reader {
    const unsigned char *p, *end;
};

static int64_t big_endian(const unsigned char *p, int n)
{
    int64_t v =
        (int8_t)p[0]; /* NOLINT(bugprone-signed-char-misuse,cert-str34-c): it has the sign */
    for (int i = 1; i < n; i++)
        v = (int64_t)((uint64_t)v << 8 | p[i]);
    return v;
}

struct header {
    int version;
    size_t isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt;
};

static bool read_header(struct reader *r, struct header *h)
{
    if (r->end - r->p < 44 || memcmp(r->p, "TZif", 4) != 0)
        return false;
    size_t *counts[] = { &h->isutcnt, &h->isstdcnt, &h->leapcnt,
                         &h->timecnt, &h->typecnt,  &h->charcnt };
    h->version = r->p[4] ? r->p[4] - '0' : 1;
    for (size_t i = 0; i < SW_COUNT(counts); i++)
        *counts[i] = (size_t)big_endian(r->p + 20 + 4 * i, 4) & 0xFFFFF;
    r->p += 44;
    return true;
}

static size_t body_size(const struct header *h, size_t time_size)
{
    return h->timecnt * time_size + h->timecnt + h->typecnt * 6 + h->charcnt +
           h->leapcnt * (time_size + 4) + h->isstdcnt + h->isutcnt;
}

static bool read_body(struct reader *r, const struct header *h, size_t time_size,
                      struct sw_arena *arena, struct sw_zone *z)
{
    if ((size_t)(r->end - r->p) < body_size(h, time_size) || h->typecnt == 0)
        return false;
    const unsigned char *times = r->p, *indexes = times + h->timecnt * time_size;
    const unsigned char *types = indexes + h->timecnt;
    const char *chars = (const char *)types + h->typecnt * 6;
    char *names = sw_arena_alloc(arena, h->charcnt + 1);
    memcpy(names, chars, h->charcnt);
    z->kinds = sw_arena_alloc(arena, h->typecnt * sizeof *z->kinds);
    z->n_kinds = h->typecnt;
    for (size_t i = 0; i < h->typecnt; i++) {
        const unsigned char *t = types + 6 * i;
        size_t name = t[5] < h->charcnt ? t[5] : h->charcnt;
        z->kinds[i] = (struct kind){ (int)big_endian(t, 4), t[4] != 0, names + name };
    }
    z->transitions = sw_arena_alloc(arena, (h->timecnt + 1) * sizeof *z->transitions);
    z->n_transitions = h->timecnt;
    for (size_t i = 0; i < h->timecnt; i++) {
        if (indexes[i] >= h->typecnt)
            return false;
        z->transitions[i] = (struct transition){ big_endian(times + time_size * i, (int)time_size),
                                                 &z->kinds[indexes[i]] };
    }
    r->p += body_size(h, time_size);
    return true;
}

/* ---- the POSIX rule ---- */

static bool read_name(const char **p, struct sw_arena *arena, const char **out)
{
    const char *start = *p, *end;
    if (*start == '<') {
        end = strchr(++start, '>');
        if (!end)
            return false;
        *p = end + 1;
    } else {
        end = start;
        while ((*end | 0x20) >= 'a' && (*end | 0x20) <= 'z')
            end++;
        *p = end;
    }
    *out = sw_arena_strndup(arena, start, (size_t)(end - start));
    return end > start;
}

static bool read_int(const char **p, int *out)
{
    if (**p < '0' || **p > '9')
        return false;
    for (*out = 0; **p >= '0' && **p <= '9' && *out < 100000; ++*p)
        *out = *out * 10 + (**p - '0');
    return true;
}

/* "[+-]h[h[h]][:mm[:ss]]" in seconds */
static bool read_time(const char **p, int *seconds)
{
    int sign = **p == '-' ? -1 : 1, h, m = 0, s = 0;
    *p += **p == '-' || **p == '+';
    if (!read_int(p, &h))
        return false;
    if (**p == ':') {
        ++*p;
        if (!read_int(p, &m))
            return false;
        if (**p == ':') {
            ++*p;
            if (!read_int(p, &s))
                return false;
        }
    }
    *seconds = sign * (h * 3600 + m * 60 + s);
    return true;
}

static bool read_rule(const char **p, struct rule *r)
{
    *r = (struct rule){ .form = 'n', .seconds = 2 * 3600 };
    if (*(*p)++ != ',')
        return false;
    if (**p == 'M') {
        r->form = *(*p)++;
        if (!read_int(p, &r->month) || *(*p)++ != '.' || !read_int(p, &r->week) || *(*p)++ != '.' ||
            !read_int(p, &r->day))
            return false;
        if (r->month < 1 || r->month > 12 || r->week < 1 || r->week > 5 || r->day > 6)
            return false;
    } else {
        if (**p == 'J')
            r->form = *(*p)++;
        if (!read_int(p, &r->day) || r->day > 365)
            return false;
    }
    if (**p != '/')
        return true;
    ++*p;
    return read_time(p, &r->seconds);
}

/* "CET-1CEST,M3.5.0,M10.5.0/3" */
static void read_footer(const char *s, struct sw_arena *arena, struct sw_zone *z)
{
    struct kind std = { 0 }, dst = { .dst = true };
    if (!read_name(&s, arena, &std.abbreviation) || !read_time(&s, &std.offset))
        return;
    std.offset = -std.offset;
    dst.offset = std.offset + 3600;
    if (*s) {
        if (!read_name(&s, arena, &dst.abbreviation))
            return;
        if (*s && *s != ',') {
            if (!read_time(&s, &dst.offset))
                return;
            dst.offset = -dst.offset;
        }
        if (!read_rule(&s, &z->dst_begins) || !read_rule(&s, &z->dst_ends))
            return;
        z->has_dst = true;
    }
    z->std = std;
    z->dst = dst;
}

/* @return NULL: it cannot be read */
static struct sw_zone *load_file(struct sw_arena *arena, const char *path)
{
    SW_AUTO_CHARS *bytes = NULL;
    size_t len;
    if (sw_file_read(path, 1 << 20, &bytes, &len, NULL) < 0)
        return NULL;
    struct reader r = { (const unsigned char *)bytes, (const unsigned char *)bytes + len };
    struct sw_zone *z = sw_arena_alloc(arena, sizeof *z);
    struct header h;
    if (!read_header(&r, &h))
        return NULL;
    if (h.version < 2)
        return read_body(&r, &h, 4, arena, z) ? z : NULL;
    if ((size_t)(r.end - r.p) < body_size(&h, 4))
        return NULL;
    r.p += body_size(&h, 4);
    if (!read_header(&r, &h) || !read_body(&r, &h, 8, arena, z))
        return NULL;
    if (r.end - r.p > 2 && *r.p == '\n') {
        const char *nl = memchr(r.p + 1, '\n', (size_t)(r.end - r.p - 1));
        if (nl) {
            const char *rule = (const char *)r.p + 1;
            read_footer(sw_arena_strndup(arena, rule, (size_t)(nl - rule)), arena, z);
        }
    }
    return z;
}

static struct sw_zone *load_named(struct sw_arena *arena, const char *name)
{
    static const char *const folders[] = { "/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                           "/etc/zoneinfo" };
    if (name[0] == '/' || name[0] == '\\' || strstr(name, "..") || strlen(name) > 100)
        return NULL;
    for (size_t i = 0; i < SW_COUNT(folders); i++) {
        SW_AUTO_CHARS *path = sw_printf("%s/%s", folders[i], name);
        struct sw_zone *z = load_file(arena, path);
        if (z)
            return z;
    }
    return NULL;
}

int sw_zone_load(struct sw_arena *arena, const char *name, size_t len, const struct sw_zone **out)
{
    SW_AUTO_CHARS *copy = sw_strndup(name, len);
    if (len == 0 || strcmp(copy, "UTC") == 0) {
        *out = NULL;
        return 0;
    }
    if (strcmp(copy, "Local") == 0) {
        *out = sw_zone_local(arena);
        return 0;
    }
    struct sw_zone *z = strlen(copy) == len ? load_named(arena, copy) : NULL;
    if (!z)
        return SW_NOTFOUND;
    z->name = sw_arena_strndup(arena, name, len);
    *out = z;
    return 0;
}

const struct sw_zone *sw_zone_local(struct sw_arena *arena)
{
    const char *tz = getenv("TZ"), *path = tz ? tz + (tz[0] == ':') : "/etc/localtime";
    if (path[0] == '\0' || strcmp(path, "UTC") == 0)
        return NULL;
    struct sw_zone *z = path[0] == '/' ? load_file(arena, path) : load_named(arena, path);
    if (z)
        z->name = "Local";
    return z;
}

const char *sw_zone_name(const struct sw_zone *zone)
{
    return zone ? zone->name : "UTC";
}

const struct sw_zone *sw_zone_fixed(struct sw_arena *arena, const char *abbreviation, size_t len,
                                    int offset)
{
    struct sw_zone *z = sw_arena_alloc(arena, sizeof *z);
    z->name = sw_arena_strndup(arena, abbreviation, len);
    z->std = (struct kind){ offset, false, z->name };
    return z;
}

/* ---- asking ---- */

/* When a rule begins in a year, in seconds of local standard time since the year's beginning. */
static int64_t rule_start(const struct rule *r, int64_t year, int first_weekday)
{
    static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    int64_t day;
    if (r->form == 'J') {
        day = r->day - 1 + (sw_is_leap_year(year) && r->day >= 60);
    } else if (r->form == 'n') {
        day = r->day;
    } else {
        int start = before[r->month - 1] + (r->month > 2 && sw_is_leap_year(year));
        int length = sw_days_in(r->month, year);
        int weekday = (first_weekday + start) % 7, offset = (r->day - weekday + 7) % 7;
        offset += 7 * (r->week - 1);
        while (offset >= length)
            offset -= 7;
        day = start + offset;
    }
    return day * 86400 + r->seconds;
}

static const struct kind *kind_by_rule(const struct sw_zone *z, int64_t sec)
{
    if (!z->has_dst)
        return &z->std;
    struct sw_civil c = sw_gotime_civil((struct sw_gotime){ .sec = sec });
    int64_t year_start = sec -
                         ((c.yearday - 1) * 86400LL + c.hour * 3600 + c.minute * 60 + c.second);
    int first_weekday = (c.weekday - (c.yearday - 1) % 7 + 7) % 7;
    int64_t begins = rule_start(&z->dst_begins, c.year, first_weekday) - z->std.offset;
    int64_t ends = rule_start(&z->dst_ends, c.year, first_weekday) - z->dst.offset;
    int64_t in_year = sec - year_start;
    bool dst = begins < ends ? in_year >= begins && in_year < ends
                             : in_year >= begins || in_year < ends;
    return dst ? &z->dst : &z->std;
}

static const struct kind *first_kind(const struct sw_zone *z)
{
    for (size_t i = 0; i < z->n_kinds; i++) {
        if (!z->kinds[i].dst)
            return &z->kinds[i];
    }
    return z->n_kinds ? &z->kinds[0] : &z->std;
}

static const struct kind *kind_at(const struct sw_zone *z, int64_t sec)
{
    size_t lo = 0, hi = z->n_transitions;
    if (hi == 0)
        return z->std.abbreviation ? kind_by_rule(z, sec) : first_kind(z);
    if (sec < z->transitions[0].at)
        return first_kind(z);
    if (sec >= z->transitions[hi - 1].at && z->std.abbreviation)
        return kind_by_rule(z, sec);
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (sec < z->transitions[mid].at)
            hi = mid;
        else
            lo = mid;
    }
    return z->transitions[lo].kind;
}

int sw_zone_offset(const struct sw_zone *zone, int64_t sec, const char **abbreviation)
{
    static const struct kind utc = { 0, false, "UTC" };
    const struct kind *k = zone ? kind_at(zone, sec) : &utc;
    if (abbreviation)
        *abbreviation = k->abbreviation;
    return k->offset;
}

bool sw_zone_find(const struct sw_zone *zone, const char *abbreviation, size_t len, int64_t sec,
                  int *offset)
{
    *offset = 0;
    if (!zone)
        return sw_is_text(abbreviation, len, "UTC");
    /* the kind that is used at that time, else any of that name */
    bool found = false;
    for (size_t i = 0; i < zone->n_kinds; i++) {
        const struct kind *k = &zone->kinds[i];
        if (!sw_is_text(abbreviation, len, k->abbreviation))
            continue;
        bool holds = sw_is_text(abbreviation, len, kind_at(zone, sec - k->offset)->abbreviation);
        if (holds || !found)
            *offset = k->offset;
        if (holds)
            return true;
        found = true;
    }
    return found;
}
