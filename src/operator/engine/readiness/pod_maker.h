#pragma once
/* pod_maker: the kinds whose objects make pods: one table for all who look for the pods. */
#include <json-c/json.h>
#include <stdbool.h>

/** A kind that makes pods, Pod itself among them. */
struct sw_pod_maker {
    const char *kind;
    const char
        *template[4]; /* the path to {metadata, spec} of its pods; empty: the object itself */
    bool selects;     /* its selector, or the labels of its template, find its pods */
    bool is_silent;   /* its status does not say why it makes none; Events do */
};

/** NULL: objects of the kind make no pods. */
const struct sw_pod_maker *sw_pod_maker_find(const char *kind);
/** Of the Operator Lifecycle Manager: what it installs has pods in the namespace of it. */
bool sw_is_subscription(const char *api_version, const char *kind);
/** Have too many others pods in @ns for what they say to be told of an operator there? */
bool sw_pods_are_of_many(const char *ns);
/** What the pods of @doc are made of, {metadata, spec}, borrowed. NULL: it makes none. */
struct json_object *sw_pod_template(struct json_object *doc);
/** Container @i of a template: the init containers, then the others; NULL after the last. */
struct json_object *sw_pod_container(struct json_object *template, size_t i);
