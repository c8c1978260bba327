#pragma once
/* report: what run and status print about one resource, as text for people and as one JSON document
 * for programs. Made of the resource's status and of the nodes' labels alone, so that both commands
 * print the same. Pure: text goes into buffers, not to a terminal. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

/** How text may look where it is shown. */
struct sw_style {
    int width;  /* columns; 0: as long as it gets */
    int height; /* lines of the live view at most; 0: all */
    bool colour;
    bool utf8;
};

/** What is shown; borrowed. @status: .status of the resource; NULL: it has none yet. */
struct sw_report {
    const char *name;
    struct json_object *status;
    struct json_object *nodes; /* [{"name", "labels": {}}], by name; NULL: none */
    int64_t created_ms;        /* the resource's age counts from then; 0: not known */
    bool is_deleting, is_paused;
    bool is_outdated;           /* sw_report_is_outdated() */
    const char *uninstalling;   /* sw_report_uninstalling() */
    bool packs;                 /* in the tables the states with nothing to tell may share a row */
    int64_t started_ms, now_ms; /* of the command; states that are not Ready last until now_ms */
};

/** What the report of @resource is made of, as it is on the cluster; all borrowed from it. */
struct sw_report sw_report_of(struct json_object *resource);

/** What reports need of Nodes (@items, from the API): the list for sw_report.nodes; the caller's.
 */
struct json_object *sw_report_nodes(struct json_object *items);

/** Annotation of a SpecialResource whose objects `slipway uninstall` deletes: what it waits for. */
#define SW_UNINSTALLING "slipway.dev/uninstalling"
/** What is told of one that is being uninstalled, "" if nothing more than that; NULL: it is not. */
const char *sw_report_uninstalling(struct json_object *resource);
/** Does @resource stay as it is until slipway resume (spec.managementState)? */
bool sw_report_is_paused(struct json_object *resource);
/** Is the status that of an earlier spec? One that is paused or goes is as it was left. */
bool sw_report_is_outdated(struct json_object *resource);

/** The phase in one word: "Ready", "Errored" or "Progressing". Static. */
const char *sw_report_phase(const struct sw_report *report);

/** Whether pods that are meant to stay have got ready less than @ms ago, or up to a second more: a
 * program that ends right after its start was ready, too. @status: of the resource */
bool sw_report_has_fresh_pods(struct json_object *status, int64_t ms);

/** The document: {"name","phase","states":[...],"nodes":[...]}; the caller's. States carry what
 * their status says; nodes only the labels that this resource's states set. */
struct json_object *sw_report_json(const struct sw_report *report);

/** What stopped the walk, or what the walk waits for: "state 'nfd': <message>", one line each, and
 * where there is one a line "hint: <hint>" after it; "" when the resource is Ready. Heap. */
char *sw_report_trouble(const struct sw_report *report);

/** The first state that waits for what does not get better by itself: an image that cannot be
 * pulled, a right that lacks, an object that is refused, nodes that do not exist. @patience_ms: how
 * long it is to be so before that is believed.
 * @return {name, message, hint, ...} of the status, borrowed; NULL: there is none */
struct json_object *sw_report_hopeless(const struct sw_report *report, int64_t *patience_ms);

/** sw_report_trouble(), or of a resource without a status why that is; heap. */
char *sw_report_message(const struct sw_report *report);

/** The live view: a head line with a bar, then one line a state. Lines end with \n, fit into the
 * width, and no more of them come than fit into the height. Heap. */
char *sw_report_frame(const struct sw_report *report, const struct sw_style *style);

/** A line for each of @n resources, with a heading: name, status, states, nodes, age, and in one
 * line what is wrong; @wide: all of it, and no line is cut. Heap. */
char *sw_report_overview(const struct sw_report *reports, size_t n, const struct sw_style *style,
                         bool wide);

/** What of that line changes by more than time: "Ready 2/2 4/4 message"; heap. */
char *sw_report_line(const struct sw_report *report);

/** The table of states, and of nodes by which states are ready there. Heap. */
char *sw_report_tables(const struct sw_report *report, const struct sw_style *style);

/** An age as kubectl shows it, in one unit: "45s", "12m", "3h", "200d". @buf holds 16. */
char *sw_report_age(int64_t ms, char buf[static 16]);
/** Milliseconds as people read them: "80ms", "3.2s", "4m05s", "2h10m". @buf holds 16. */
char *sw_report_duration(int64_t ms, char buf[static 16]);
