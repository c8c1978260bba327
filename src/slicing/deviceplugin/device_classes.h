#pragma once
/* device_classes: the DeviceClasses by which pods ask for what this node publishes. Those that are
 * missing are made. With --class-owner all of ours get a ClusterRole as an owner, besides those
 * that they have: the garbage collector takes them away with the last of them. Internal to
 * deviceplugin. */
#include "slicing/deviceplugin/state.h"

struct dp_classes;
/** The caller's. @done: dp_classes_make() has come to its end: NULL, or what failed and is to be
 * tried again. */
struct dp_classes *dp_classes_new(struct sw_device_plugin *p,
                                  void (*done)(const struct sw_err *trouble, void *arg), void *arg);
/** NULL is accepted. */
void dp_classes_free(struct dp_classes *c);
/** See that they are there, once in the life of this process. @return true: they are; false: @done
 * will be called */
bool dp_classes_make(struct dp_classes *c);
