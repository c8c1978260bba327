#pragma once
/* yaml_source: the events of one YAML stream, from libyaml, with the differences between libyaml
 * and go-yaml corrected. The events of nodes with an anchor are recorded so that an alias can
 * repeat them. Internal to data. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

#include "base/base.h"
#include "data/text/place.h"

/** The tag of a node. */
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
    SW_TAG_OTHER, /* also "!": the scalar is a string */
};

/** One event of the stream. */
struct sw_yaml_event {
    yaml_event_type_t type;
    enum sw_yaml_tag tag;
    bool plain;       /* a scalar without quotes, or with a tag that makes it count as plain */
    const char *text; /* of a scalar; valid until the next event unless recorded */
    size_t len;
    size_t
        anchor; /* ALIAS: the anchor it refers to; else the anchor of the node; from 1; 0: none */
    struct sw_place place;
};

/** An anchor of the current document. */
struct sw_yaml_anchor {
    const char *name;
    uint64_t hash;
    size_t first, end; /* its events; end is 0 while it is open */
    yaml_event_type_t type;
};

/** The state of reading one stream. */
struct sw_yaml_source {
    yaml_parser_t parser;
    yaml_event_t event;          /* the parser's last one, to be deleted before the next */
    struct sw_yaml_event *quick; /* all events, if yaml_quick could read the text; no parser then */
    size_t quick_at, n_quick;
    char *bytes; /* owned: what the quick events point into, or what the parser reads instead of the
                    caller's text */
    const char *text, *file;
    size_t len;
    int first_line;
    bool go_words; /* errors have go-yaml's text */
    bool failed;   /* go-yaml would have stopped reading here */
    struct {
        bool bangs, slashes;    /* the text contains a '!', a "\/" */
        size_t character, byte; /* one place in both units: libyaml's marks count characters */
    } look;
    struct sw_arena *arena; /* recorded texts and names of this document */
    struct sw_yaml_event *recorded;
    size_t n_recorded, cap_recorded;
    struct sw_yaml_anchor *anchors;
    size_t n_anchors, cap_anchors;
    int flow_depth;
    uint64_t flow_work; /* the sum of flow_depth over the events: what libyaml's search costs */
    int recording;      /* number of open nodes that are being recorded */
    size_t replay_at;   /* the next recorded event; SIZE_MAX: events come from the parser */
    struct sw_err *err;
};

/** Begin to read @text, which is borrowed until sw_yaml_source_done(); so are @file and @err.
 * @first_line: the number of the text's first line. */
void sw_yaml_source_init(struct sw_yaml_source *s, const char *text, size_t len_bytes,
                         const char *file, int first_line, struct sw_err *err);
/** As sw_yaml_source_init(), but always with libyaml: tests compare yaml_quick with it. */
void sw_yaml_source_init_slow(struct sw_yaml_source *s, const char *text, size_t len_bytes,
                              const char *file, int first_line, struct sw_err *err);
/** Free all events, anchors and the parser. */
void sw_yaml_source_done(struct sw_yaml_source *s);

/** Whether reading has failed: there are no more events. */
bool sw_yaml_source_is_broken(const struct sw_yaml_source *s);

/** The next event, from the parser or a recorded one. @return 0 | SW_INVALID */
int sw_yaml_source_next(struct sw_yaml_source *s, struct sw_yaml_event *out);
/** The node that @event began is complete. */
void sw_yaml_source_close(struct sw_yaml_source *s, const struct sw_yaml_event *event);
/** A new document begins: drop the anchors. */
void sw_yaml_source_reset(struct sw_yaml_source *s);

/** Record the events of the node that @event began, up to its end, without decoding them. @event
 * itself must have been read while recording. @return 0 | SW_INVALID */
int sw_yaml_source_skip(struct sw_yaml_source *s, const struct sw_yaml_event *event, int max_depth);

/** Set the error with the place of @event. @return SW_INVALID */
int sw_yaml_source_fail(struct sw_yaml_source *s, const struct sw_yaml_event *event,
                        const char *fmt, ...) __attribute__((format(printf, 3, 4)));
