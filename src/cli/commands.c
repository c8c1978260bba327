#include "cli/command/cli.h"

#include <stdio.h>

static const struct sw_flag no_flags[] = { { 0 } };

const struct sw_command sw_commands[] = {
    { "run", "RECIPE", "walk a recipe's states to Ready, and report",
      "RECIPE is the folder or the archive of a chart. A SpecialResource for it is applied, "
      "walked\n"
      "in this process until it is Ready, has failed, or the time is over, and left as it is "
      "then.\n"
      "Run it again to go on. It sets no finalizer, since it would not be there to take it off: "
      "deleted,\n"
      "the resource takes what it owns along, but not node labels and the namespace.\n\n"
      "Exit status: 0 Ready, 1 failed, 2 bad usage or input, 3 time-out.",
      sw_flags_run, sw_cmd_run },
    { "controller", "", "look after every SpecialResource of a cluster",
      "The operator: it runs until SIGTERM. Without --leader-elect there must be only one.",
      sw_flags_controller, sw_cmd_controller },
    { "status", "[NAME]", "show what the cluster says about its SpecialResources",
      "States, nodes and what is waited for, of one resource or of all.", sw_flags_status,
      sw_cmd_status },
    { "explain", "NAME [STATE]", "say why a SpecialResource is where it is",
      "The chain from the resource through its states, their objects and pods down to what all\n"
      "waits for: a container's reason and exit code, the end of its log, Events, finalizers. Of\n"
      "one state, or of all that are not Ready.",
      sw_flags_explain, sw_cmd_explain },
    { "emulate", "", "serve an embedded cluster",
      "Prints its URL and serves until SIGTERM; kubectl and slipway work against it.",
      sw_flags_emulate, sw_cmd_emulate },
    { "replay", "FILE", "play what was recorded again, or walk with the same things going wrong",
      "FILE is what --record of `run` or `controller` wrote: everything that was seen of a "
      "cluster\n"
      "and decided about it. It is told to this program's engine again, without a cluster, and "
      "its\n"
      "decisions are compared with those that were recorded.\n\n"
      "Or FILE is a trial: the recipe, when the controller is killed, and a plan of faults\n"
      "(docs/faults.md). Cluster and controller run in this process, on a clock that jumps. What\n"
      "stands at the end is compared with an undisturbed walk.\n\n"
      "Exit status: 0 the same, 1 not Ready or not the same, 2 bad usage or input.",
      sw_flags_replay, sw_cmd_replay },
    { "hooks", "", "list what is done to manifests, and the annotations that ask for it", NULL,
      sw_flags_hooks, sw_cmd_hooks },
    { "completion", "bash|zsh|fish", "print a shell's completion script",
      "To try it in bash: source <(slipway completion bash)", no_flags, sw_cmd_completion },
    { "render", "[NAME] RECIPE", "print the manifests that a recipe gives",
      "As `helm template`, in the order in which slipway applies them.", sw_flags_render,
      sw_cmd_render },
    { "graph", "RECIPE", "draw a recipe's states and what they need", NULL, sw_flags_graph,
      sw_cmd_graph },
    { "lint", "RECIPE|FILE.yaml", "say what is wrong or doubtful in a recipe, or in manifests",
      "Nothing is asked of a cluster. Lines are those of what a template renders to; of a file of\n"
      "manifests (SpecialResources and what stands beside them) those of the file.",
      sw_flags_lint, sw_cmd_lint },
    { "fetch", "SOURCE", "get a recipe with what it depends on, and say what was got",
      "SOURCE is a URL: https://host/x-1.0.0.tgz, oci://host/x:1.0.0, cm://namespace/name,\n"
      "git+https://host/repo//folder?ref=branch, or with --repo a chart's name. Downloads are "
      "kept\n"
      "by their digest. For other programs: with - as SOURCE a request is read as JSON from "
      "stdin,\n"
      "and answered on stdout with a line of JSON and the recipe.",
      sw_flags_fetch, sw_cmd_fetch },
    { "create", "NAME", "begin a new recipe",
      "Writes the folder NAME: a chart of two states that renders, lints and walks, to be changed\n"
      "from there. Nothing that exists is overwritten.",
      no_flags, sw_cmd_create },
    { "package", "RECIPE", "pack a recipe into an archive",
      "Writes <name>-<version>.tgz as `helm package` does, dependencies included. Equal recipes "
      "give\n"
      "equal bytes; $SOURCE_DATE_EPOCH says which time the files have in it.",
      sw_flags_package, sw_cmd_package },
    { "configmap", "RECIPE", "print a ConfigMap that carries a recipe",
      "For spec.chart.repository.url: cm://<namespace>/<name>. A single chart is written one key "
      "a\n"
      "file, to be edited in place; one with dependencies as an archive with its index.yaml.",
      sw_flags_configmap, sw_cmd_configmap },
    { "diff", "RECIPE", "show what applying a recipe would change on the cluster",
      "Each manifest is applied as a dry run and compared with what is there. Templates see the\n"
      "cluster's version and kinds; lookups find nothing, and the controller's runtime values are\n"
      "those of --facts. The namespace is the SpecialResource's on the cluster, else of the "
      "recipe's\n"
      "name, unless --namespace is given.\n\n"
      "Exit status: 0 no change, 1 changes, 2 errors.",
      sw_flags_diff, sw_cmd_diff },
    { "rbac", "RECIPE", "print the rights that the operator needs for a recipe",
      "Roles and bindings for what the recipe renders to, besides what every operator has; and "
      "what\n"
      "the recipe's own roles contain, since nobody may hand on what he does not hold. To be "
      "applied\n"
      "by somebody who may: slipway rbac RECIPE | kubectl apply -f -",
      sw_flags_rbac, sw_cmd_rbac },
    { "man", "[COMMAND]", "print a manual page", "In roff, for man(1): slipway man run | man -l -",
      no_flags, sw_cmd_man },
    { "gather", "", "collect what somebody who helps needs to see",
      "One .tar.gz: resources and what they say, the objects that were applied, nodes, events, "
      "logs\n"
      "of the operator and of pods that do not run, metrics. Secrets are left out, and so is what\n"
      "looks like one; look through it all the same before you hand it on.",
      sw_flags_gather, sw_cmd_gather },
    { "bundle", "RECIPE", "pack a recipe and the list of its images, for a site without a network",
      "Writes <name>-<version>.bundle.tgz: the recipe with its dependencies and images.txt, a line "
      "an\n"
      "image; with --digests each by the digest that its registry says. --mirror FROM=TO writes "
      "the\n"
      "commands that copy them (mirror.sh), and the values that the recipe is rendered with there.",
      sw_flags_bundle, sw_cmd_bundle },
    { "uninstall", "[NAME]", "take away what slipway made, whether an operator runs or not",
      "With NAME one SpecialResource, else all of them, the operator and the definitions. Only "
      "what\n"
      "is in a resource's inventory and is still the same object, the labels of its states, and "
      "what\n"
      "carries the label app.kubernetes.io/part-of=slipway.",
      sw_flags_uninstall, sw_cmd_uninstall },
    { "preflight", "RECIPE|NAME", "check a recipe's driver containers against another kernel",
      "Renders the recipe, or that of a SpecialResource on the cluster, for the kernel, and looks "
      "into\n"
      "the images of its driver containers: each must say that it is for that kernel, or be built "
      "by\n"
      "a BuildConfig of its vendor.\n\n"
      "Exit status: 0 all of it is there, 1 it is not (or nobody can tell), 2 bad usage or input.",
      sw_flags_preflight, sw_cmd_preflight },
    { "plan", "RECIPE|NAME", "print every action on a node before it is done",
      "Of a recipe as applying it would be, or of a SpecialResource as it is: which taints and "
      "labels\n"
      "nodes get and lose, and where drivers are replaced which nodes are cordoned, drained (with "
      "the\n"
      "pods that are evicted), given their new driver and uncordoned, in which order, as\n"
      "spec.upgradePolicy says; decided by what the operator decides by, and played through as if "
      "all\n"
      "went well. Nothing is written. A name that a resource has is the resource's: ./NAME is the\n"
      "folder.\n\n"
      "Exit status: 0 no node needs anything, 1 actions, 2 errors.",
      sw_flags_plan, sw_cmd_plan },
    { "test", "NAME", "run the tests of a SpecialResource's release, as `helm test` does",
      "The hooks `test` of the release that is recorded last, by weight, one after the other: Pods "
      "and\n"
      "Jobs to their end, with their delete policies. Logs of a test that fails are printed; it "
      "is\n"
      "the last that is run.\n\n"
      "Exit status: 0 all have succeeded, 1 one has failed, 2 bad usage or input, 3 time-out.",
      sw_flags_test, sw_cmd_test },
    { "version", "", "print the version", NULL, no_flags, sw_cmd_version },
    { 0 },
};

const struct sw_command *sw_command_find(const char *name)
{
    for (const struct sw_command *c = sw_commands; c->name; c++)
        if (sw_streq(c->name, name))
            return c;
    return NULL;
}

int sw_cmd_version(int argc, char **argv)
{
    struct sw_operands rest;
    int rc = sw_cli_parse("version", argc, argv, NULL, 0, &rest);
    if (rc)
        return rc - 1;
    (void)printf("slipway %s\n", sw_version);
    return SW_EXIT_OK;
}
