#!/usr/bin/env python3
"""Print what `make bench` measured as a table, beside the figures of peers.

usage: hack/bench-table.py [FILE]        FILE: JSON of hack/bench.sh, else standard input
       hack/bench-table.py --check DOC   whether DOC (docs/benchmarks.md) holds what it prints of DOC's JSON
       hack/bench-table.py --write DOC   put it there

Peers were measured on two cores of an AMD EPYC with the control plane of Kubernetes 1.36.2; what each
figure is of stands in its row. A row that was not measured is left out.
"""
import json
import sys

BEGIN, END = "<!-- bench -->\n", "<!-- /bench -->\n"


def find(figures, bench, **wanted):
    for f in figures:
        if f.get("bench") == bench and all(f.get(k) == v for k, v in wanted.items()):
            return f
    return None


def at(figure, path):
    for key in path.split("."):
        figure = figure.get(key) if isinstance(figure, dict) else None
    return figure


class Row:
    """A figure: which one, in which unit, what the peer's is, and whether less is better."""

    def __init__(self, what, bench, path, unit, scale=1.0, peer="", peer_value=None, more=False, wanted=None):
        self.what, self.bench, self.path, self.unit, self.scale = what, bench, path, unit, scale
        self.peer, self.peer_value, self.more, self.wanted = peer, peer_value, more, wanted or {}

    def cells(self, figures):
        figure = find(figures, self.bench, **self.wanted)
        value = at(figure, self.path) if figure else None
        if value is None:
            return None
        value *= self.scale
        if self.peer_value is None:
            return [self.what, number(value) + self.unit, "", ""]
        times = value / self.peer_value if self.more else self.peer_value / value if value else None
        return [self.what, number(value) + self.unit, "%s: %s%s" % (self.peer, number(self.peer_value), self.unit),
                "none" if times is None else number(times)]


def number(value):
    if value >= 100:
        return "{:,.0f}".format(value)
    text = "%.2g" % value if value < 1 else "%.3g" % value
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


KIB = 1 / 1024
HELM, SRO, DAS, GPU = "Helm 3.7.1", "SRO", "DAS", "NVIDIA's GPU operator"
ROWS = [
    ("Programs", [
        Row("the operator's program, stripped", "size", "bytes", " MB", 1e-6, SRO + ", with its helper", 98.6),
        Row("walk of recipes/nvidia-mig on five nodes, whole process", "run-nvidia-mig", "wall_s.median", " s"),
        Row("its memory at most, the embedded cluster's with it", "run-nvidia-mig", "peak_kib.median", " MiB", KIB),
    ]),
    ("Rendering NVIDIA's GPU operator's chart", [
        Row("a process for it: time", "render-gpu-operator", "wall_s.median", " ms", 1e3, HELM, 24),
        Row("memory", "render-gpu-operator", "peak_kib.median", " MiB", KIB, HELM, 28.2),
        Row("in a process that goes on: load, values, schema, render", "gpu-operator", "all_us", " ms", 1e-3, HELM, 13.8),
        Row("its templates alone", "gpu-operator", "render_us", " ms", 1e-3, HELM, 5.3),
    ]),
    ("Rendering simple-kmod", [
        Row("a process for it: time", "render-simple-kmod", "wall_s.median", " ms", 1e3, HELM, 7),
        Row("in a process that goes on", "simple-kmod", "all_us", " ms", 1e-3, HELM, 0.326),
    ]),
    ("The operator and 5,000 nodes, the emulator's API server", [
        Row("all nodes read: CPU", "scale-first-sync", "cpu_s", " s", 1, "client-go, JSON", 1.88),
        Row("memory at most", "scale-first-sync", "peak_kib", " MiB", KIB, "client-go, metadata alone", 100),
        Row("a label on each: time", "scale-labels", "seconds", " s", 1, GPU + ", a real API server", 52),
        Row("requests for it", "scale-labels", "patches", "", 1, GPU, 10000),
        Row("100 resources at rest: memory", "scale-rest", "rss_kib", " MiB", KIB, SRO + " with one", 280),
        Row("requests a minute", "scale-rest", "reads_per_min", "", 1, SRO + ", waiting", 520),
    ]),
    ("65 resources at once", [
        Row("applied to Ready", "charts-install", "seconds", " s"),
        Row("memory of operator and renderers together, at most", "charts-install", "together_peak_pss_kib", " MiB", KIB),
        Row("memory of the operator at rest", "charts-install", "rest_rss_kib", " MiB", KIB, SRO + " with one", 59),
    ]),
    ("The webhook for slices, TLS", [
        Row("admissions a second, 1 connection", "webhook", "per_s", "", 1, DAS, 1662, True, {"connections": 1}),
        Row("8 connections", "webhook", "per_s", "", 1, DAS, 2648, True, {"connections": 8}),
        Row("32 connections", "webhook", "per_s", "", 1, DAS, 2262, True, {"connections": 32}),
        Row("CPU of an admission, 8 connections", "webhook", "cpu_us", " us", 1, DAS, 651, False, {"connections": 8}),
        Row("memory at most", "webhook", "peak_kib", " MiB", KIB, DAS, 46, False, {"connections": 32}),
    ]),
    ("Slices by the scheduler's extender, a real API server", [
        row for n, das, writes in ((10, 1.59, 25.5), (100, 0.13, 302), (500, None, None)) for row in (
            Row("pods a second, %d nodes" % n, "scheduler", "pods_per_s", "", 1, DAS, das, True, {"nodes": n}),
            Row("writes a pod, %d nodes" % n, "scheduler", "writes_per_pod", "", 1, DAS, writes, False, {"nodes": n}))
    ] + [
        Row("memory of the extender, 500 nodes", "scheduler", "rss_kib", " MiB", KIB, DAS, 100, False, {"nodes": 500}),
        Row("5,000 nodes asked about a pod, p99", "scheduler-filter-cpu", "p99_ms", " ms", wanted={"case": "most fit"}),
    ]),
    ("Slices by Dynamic Resource Allocation, a stock kube-scheduler 1.36", [
        row for n in (10, 100, 500) for row in (
            Row("pods a second, %d nodes of 8 GPUs" % n, "dra-scheduler", "pods_per_s", "", wanted={"nodes": n}),
            Row("pods without devices, in the same run", "dra-scheduler", "plain_pods_per_s", "", wanted={"nodes": n}),
            Row("CPU of kube-scheduler for a pod", "dra-scheduler", "kube_scheduler_cpu_ms_per_pod", " ms", wanted={"nodes": n}))
    ] + [
        Row("writes a pod", "dra-scheduler", "writes_per_pod", "", wanted={"nodes": 10}),
        Row("a slice gets free until the pod that waits is bound, median", "dra-freed", "p50_ms", " ms"),
        Row("the longest of ten", "dra-freed", "max_ms", " ms"),
        Row("NodePrepareResources, GPUs made up, p50", "dra-prepare", "p50_ms", " ms"),
        Row("p99", "dra-prepare", "p99_ms", " ms"),
        Row("requests to the API server for a claim, there and back", "dra-prepare", "requests_of_a_claim", ""),
        Row("memory of the daemon", "dra-memory", "rss_kib", " MiB", KIB),
    ]),
    ("Slices lost by the policy, of what the best could place", [
        Row("one A100, `packed`, against who knows the distribution", "mig-online", "packed_below_best_online_percent", " %",
            wanted={"model": "A100-40GB", "gpus": 1}),
        Row("one A100, devices in one order, against the same", "mig-online", "dra_one_order_below_best_online_percent", " %",
            wanted={"model": "A100-40GB", "gpus": 1}),
        Row("one A100, devices in one order, against `packed`", "mig-online", "dra_one_order_below_packed_percent", " %",
            wanted={"model": "A100-40GB", "gpus": 1}),
        Row("two A30, devices in one order, against `packed`", "mig-online", "dra_one_order_below_packed_percent", " %",
            wanted={"model": "A30-24GB", "gpus": 2}),
        Row("one A100, `packed`, against who knows the future", "mig-online", "packed_below_it_percent", " %",
            wanted={"model": "A100-40GB", "gpus": 1}),
        Row("one A100, devices in one order, against the same", "mig-online", "dra_one_order_below_it_percent", " %",
            wanted={"model": "A100-40GB", "gpus": 1}),
        Row("all models, `packed`, against who knows the future", "mig-gap", "gap_percent", " %",
            wanted={"model": "all", "policy": "packed"}),
    ]),
]


def machine(m):
    if not m:
        return []
    what = "slipway %s on %d cores of %s, %d GiB, Linux %s" % (m["slipway"], m["cores"], m["cpu"], m["memory_gib"], m["kernel"])
    kube = ", real API servers: Kubernetes %s" % m["kubernetes"] if m["kubernetes"] else ", no real API server"
    return ["%s%s; %s." % (what, kube, m["date"]), ""]


def table(figures):
    figures = [dict(f, bench=f["chart"].rsplit("/", 1)[-1]) if f["bench"] == "render" else f for f in figures]
    lines = machine(find(figures, "machine"))
    lines += ["| | slipway | a peer | times better |", "| --- | ---: | ---: | ---: |"]
    for title, rows in ROWS:
        cells = [c for c in (row.cells(figures) for row in rows) if c]
        if cells:
            lines.append("| *%s* | | | |" % title)
            lines += ["| %s |" % " | ".join(c) for c in cells]
    return "\n".join(lines) + "\n"


def main(args):
    if args[:1] in (["--check"], ["--write"]) and len(args) == 2:
        with open(args[1], encoding="utf-8") as f:
            doc = f.read()
        with open(args[1].rsplit(".", 1)[0] + ".json", encoding="utf-8") as f:
            figures = json.load(f)
        head, rest = doc.split(BEGIN, 1)
        new = head + BEGIN + table(figures) + END + rest.split(END, 1)[1]
        if args[0] == "--write":
            with open(args[1], "w", encoding="utf-8") as f:
                f.write(new)
        elif new != doc:
            sys.exit("%s: the table is not that of its figures: hack/bench-table.py --write %s" % (args[1], args[1]))
    elif len(args) <= 1 and not "".join(args).startswith("-"):
        with open(args[0], encoding="utf-8") if args else sys.stdin as f:
            print(table(json.load(f)), end="")
    elif args == ["--help"]:
        print(__doc__, end="")
    else:
        sys.exit(__doc__.split("\n\n")[1])


if __name__ == "__main__":
    main(sys.argv[1:])
