#!/usr/bin/env python3
"""coverage.py TREE [OUT]: what the tests of a build with --coverage have run.

Reads what gcc's programs left in TREE/build (*.gcda) with gcov alone, prints a table of lines and
functions by folder of src/, and writes OUT/index.html with a page for each file (default
TREE/build/html). `make coverage` makes the build and runs the tests.
"""
import collections
import html
import json
import os
import shutil
import subprocess
import sys

STYLE = """<!doctype html><meta charset="utf-8"><title>%s</title><style>
body{font:14px sans-serif;margin:2em}pre{font:13px monospace}td,th{padding:1px 1em;text-align:right}
td:first-child,th:first-child{text-align:left}.no{background:#fcc}.yes{background:#dfd}i{color:#888}
</style><h1>%s</h1>"""


class File:
    def __init__(self):
        self.lines = collections.Counter()  # line: how often it ran
        self.functions = collections.Counter()  # (name, line): how often it ran

    def of(self, counts):
        return sum(1 for n in counts.values() if n), len(counts)


def read(tree):
    """{path below the tree: File}, over all objects: a header's lines are in many."""
    files = collections.defaultdict(File)
    counts = [os.path.join(d, f) for d, _, names in os.walk(os.path.join(tree, "build")) for f in names if f.endswith(".gcda")]
    for i in range(0, len(counts), 50):
        out = subprocess.run(
            ["gcov", "--json-format", "--stdout"] + counts[i : i + 50],
            cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        ).stdout
        for line in out.splitlines():  # a document an object
            doc = json.loads(line)
            for f in doc["files"]:
                path = os.path.relpath(os.path.join(doc["current_working_directory"], f["file"]), tree)
                if not path.startswith("src/"):
                    continue
                for entry in f["lines"]:
                    files[path].lines[entry["line_number"]] += entry["count"]
                for fn in f["functions"]:
                    files[path].functions[fn["name"], fn["start_line"]] += fn["execution_count"]
    return dict(sorted(files.items()))


def percent(run, total):
    return 100.0 * run / total if total else 100.0


def by_folder(files):
    """[(folder, lines run, lines, functions run, functions)], the sum last."""
    rows = collections.defaultdict(lambda: [0, 0, 0, 0])
    for path, f in files.items():
        figures = f.of(f.lines) + f.of(f.functions)
        for key in (os.path.dirname(path), "~"):
            rows[key] = [a + b for a, b in zip(rows[key], figures)]
    return [("all" if k == "~" else k, *v) for k, v in sorted(rows.items())]


def print_table(rows):
    width = max(len(r[0]) for r in rows)
    print(f"{'FOLDER':{width}}  {'LINES':>15}  {'%':>5}  {'FUNCTIONS':>13}  {'%':>5}")
    for name, run, lines, called, functions in rows:
        print(
            f"{name:{width}}  {f'{run}/{lines}':>15}  {percent(run, lines):5.1f}"
            f"  {f'{called}/{functions}':>13}  {percent(called, functions):5.1f}"
        )


def write_html(tree, out, files, rows):
    def row(name, link, figures):
        name = html.escape(name)
        name = f'<a href="{link}">{name}</a>' if link else f"<b>{name}</b>"
        run, lines, called, functions = figures
        return f"<tr><td>{name}<td>{run}/{lines}<td>{percent(run, lines):.1f} %<td>{called}/{functions}"

    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with open(os.path.join(out, "index.html"), "w", encoding="utf-8") as index:
        print(STYLE % ("coverage", "coverage"), file=index)
        print("<table><tr><th>file<th>lines<th><th>functions", file=index)
        for name, *figures in rows:
            print(row(name, None, figures), file=index)
            for path, f in files.items():
                if os.path.dirname(path) == name:
                    print(row(path, path.replace("/", "_") + ".html", f.of(f.lines) + f.of(f.functions)), file=index)
        print("</table>", file=index)
    for path, f in files.items():
        with open(os.path.join(out, path.replace("/", "_") + ".html"), "w", encoding="utf-8") as page:
            print(STYLE % (path, path) + "<pre>", file=page)
            with open(os.path.join(tree, path), encoding="utf-8", errors="replace") as source:
                for n, text in enumerate(source, 1):
                    count = f.lines.get(n)
                    mark = "" if count is None else "yes" if count else "no"
                    text = html.escape(text.rstrip("\n"))
                    print(f'<i>{n:5} {"" if count is None else count:>9}</i> <span class="{mark}">{text}</span>', file=page)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    tree = os.path.abspath(sys.argv[1])
    out = sys.argv[2] if len(sys.argv) == 3 else os.path.join(tree, "build", "html")
    files = read(tree)
    if not files:
        sys.exit(f"coverage.py: nothing below {tree}/build has run with --coverage")
    rows = by_folder(files)
    print_table(rows)
    write_html(tree, out, files, rows)
    print(f"each line: {os.path.relpath(out)}/index.html")
    for tool, command in (("gcovr", f"gcovr -r {tree}"), ("lcov", f"lcov -c -d {tree}/build -o coverage.info")):
        if shutil.which(tool):
            print(f"{tool} is here and reads the same: {command}")


if __name__ == "__main__":
    main()
