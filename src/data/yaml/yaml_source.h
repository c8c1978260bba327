#pragma once
/* yaml_source: libyaml's events of one stream, with what go-yaml would have said of them; nodes
 * that carry an anchor are kept, so that an alias can play them again. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

#include "base/base.h"
#include "data/text/place.h"

enum sw_yaml_tag {
    SW_TAG_NONE,
    SW_TAG_STR,
    SW_TAG_BOOL,
    SW_TAG_INT,
    SW_TAG_FLOAT,
    SW_TAG_NULL,
    SW_TAG_TIMESTAMP,
    SW_TAG_BINARY,
    SW_TAG_MERGE,
    SW_TAG_OTHER, /* "!" too: whatever it is on is a string */
};

struct sw_yaml_event {
    yaml_event_type_t type;
    enum sw_yaml_tag tag;
    bool plain;       /* a scalar without quotes, or with a tag that says so */
    const char *text; /* of a scalar; valid until the next event unless recorded */
    size_t len;
    size_t anchor; /* ALIAS: which one; else the one it opened, counted from 1, or 0 */
    struct sw_place place;
};

struct sw_yaml_anchor {
    const char *name;
    uint64_t hash;
    size_t first, end; /* its events; end is 0 while it is open */
    yaml_event_type_t type;
};

struct sw_yaml_source {
    yaml_parser_t parser;
    yaml_event_t event;          /* the live one, to be deleted before the next */
    struct sw_yaml_event *quick; /* all events, of ordinary text: there is no parser then */
    size_t quick_at, n_quick;
    char *bytes; /* owned: what the quick events point into, or what the parser reads instead of the
                    caller's text */
    const char *text, *file;
    size_t len;
    int first_line;
    bool go_words; /* errors as go-yaml has them */
    bool failed;   /* where go-yaml would have stopped reading */
    struct {
        bool bangs, slashes;    /* the text holds a '!', a "\/": worth a look */
        size_t character, byte; /* the same place: libyaml's marks count characters */
    } look;
    struct sw_arena *arena; /* recorded texts and names of this document */
    struct sw_yaml_event *recorded;
    size_t n_recorded, cap_recorded;
    struct sw_yaml_anchor *anchors;
    size_t n_anchors, cap_anchors;
    int flow_depth;
    int recording;    /* how many wishes to record are open */
    size_t replay_at; /* next recorded event; SIZE_MAX: live */
    struct sw_err *err;
};

/** @text: the caller's, until sw_yaml_source_done(). */
void sw_yaml_source_init(struct sw_yaml_source *s, const char *text, size_t len_bytes,
                         const char *file, int first_line, struct sw_err *err);
/** The same, by libyaml in any case: what the quick reader is compared with. */
void sw_yaml_source_init_slow(struct sw_yaml_source *s, const char *text, size_t len_bytes,
                              const char *file, int first_line, struct sw_err *err);
void sw_yaml_source_done(struct sw_yaml_source *s);

/** Whether reading has failed, so that there are no more events. */
bool sw_yaml_source_is_broken(const struct sw_yaml_source *s);

/** The next event, live or played again. */
int sw_yaml_source_next(struct sw_yaml_source *s, struct sw_yaml_event *out);
/** The node that @event began is complete. */
void sw_yaml_source_close(struct sw_yaml_source *s, const struct sw_yaml_event *event);
/** Forget the anchors: another document begins. */
void sw_yaml_source_reset(struct sw_yaml_source *s);

/** Record the events of the node that @event began (and the event itself must have been read while
 * recording was on) without looking at them, up to its end. */
int sw_yaml_source_skip(struct sw_yaml_source *s, const struct sw_yaml_event *event, int max_depth);

/** An error at an event's place. */
int sw_yaml_source_fail(struct sw_yaml_source *s, const struct sw_yaml_event *event,
                        const char *fmt, ...) __attribute__((format(printf, 3, 4)));
