#!/usr/bin/env python3
"""Build a site of the documents: all pages, a reference made from the programs and definitions, a search.

usage: hack/site.py [--out DIR] [--source URL]

Needs mkdocs (Debian: mkdocs, mkdocs-material; Fedora: mkdocs, mkdocs-material) and build/slipway. Writes
the site into DIR (build/site), where any web server can serve it: it asks no other server for anything.
What the documents link to in the tree and that is no page (a manifest, a folder of the source) is linked at
URL, the address of the source ($SOURCE_URL), or not at all where none is given. Then every link in the site is followed: one that leads
nowhere, or to a heading that is not there, is printed, and the exit status is 1. It is 2 where mkdocs or
the program is missing.
"""
import argparse
import html.parser
import os
import posixpath
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = ("slipway", "slipway-device-plugin", "slipway-scheduler", "slipway-webhook")
FOLDERS = ("docs", "recipes", "states", "charts")
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
NAV = (
    ("Why", ("README.md", "docs/why.md")),
    ("Tutorial", ("docs/tutorial.md", "docs/quickstart.md")),
    ("How to", ("docs/kernels.md", "docs/disconnected.md", "docs/mig.md", "docs/kmm.md", "docs/debugging.md", "docs/backup.md",
                "docs/scale.md", "docs/tenants.md", "docs/recipes.md", "docs/recipes-from.md", "docs/operating.md",
                "docs/upgrades.md", "docs/registries.md", "docs/partitioning.md", "docs/dashboard.md", "docs/migrating.md",
                "docs/aicr.md", "docs/nvidia.md", "docs/release.md")),
    ("Reference", ("reference/commands.md", "reference/fields.md", "docs/conditions.md", "docs/annotations.md", "docs/templates.md",
                   "docs/metrics.md", "docs/emulator-rules.md", "docs/faults.md", "docs/compatibility.md")),
    ("Explanation", ("docs/architecture.md", "docs/engine.md", "docs/slicing.md", "docs/benchmarks.md", "docs/security.md")),
    ("Answers", ("docs/glossary.md", "docs/faq.md", "docs/troubleshooting.md")),
    ("Project", ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/todo.md")),
)
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def fail(message, status=2):
    print("site.py: " + message, file=sys.stderr)
    sys.exit(status)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


# ---- what becomes a page ----

def pages_of_tree():
    """The pages, and the pictures beside them, by their paths in the tree."""
    found = [name for name in TOP if os.path.exists(os.path.join(ROOT, name))]
    for folder in FOLDERS:
        for at, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders.sort()
            found += [os.path.relpath(os.path.join(at, name), ROOT)
                      for name in sorted(files) if name.endswith((".md", ".svg", ".png"))]
    return found


def linked(page, pages, source):
    """A function for LINK.sub(): a link of @page as it is in the site."""
    def change(match):
        target, _, heading = match.group(2).partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return match.group(0)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if path in pages:
            return match.group(0)
        readme = posixpath.join(path, "README.md")
        if readme in pages:
            to = posixpath.relpath(readme, posixpath.dirname(page) or ".")
        elif source:
            to = source.rstrip("/") + "/" + path
        else:
            return match.group(1)
        return f"[{match.group(1)}]({to}{'#' + heading if heading else ''})"
    return change


def stage(pages, to, source):
    for page in pages:
        path = os.path.join(to, page)
        if not page.endswith(".md"):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, page), path)
            continue
        text = read(os.path.join(ROOT, page)).replace("```mermaid", "```text")  # drawn by a script from elsewhere
        write(path, LINK.sub(linked(page, pages, source), text))


# ---- the reference ----

def help_of(program, *args):
    return subprocess.run([program, *args, "--help"], check=True, capture_output=True, text=True).stdout


def commands(build):
    text = ["# Commands", "", "What each program prints with `--help`."]
    for name in PROGRAMS:
        program = os.path.join(build, name)
        if not os.path.exists(program):
            fail(f"{program} is not there: make build")
        about = help_of(program)
        text += ["", "## " + name, "", "```text", about.rstrip(), "```"]
        section = about.partition("Commands:\n")[2].partition("\n\n")[0] if name == "slipway" else ""
        for command in re.findall(r"^  ([a-z][a-z-]*)", section, re.M):
            text += ["", f"### {name} {command}", "", "```text", help_of(program, command).rstrip(), "```"]
    return "\n".join(text) + "\n"


def fields_of(schema, path, out):
    for name, child in sorted(schema.get("properties", {}).items()):
        at = f"{path}.{name}" if path else name
        kind = child.get("type", "any")
        below = child
        while below.get("type") == "array":
            below, at = below.get("items", {}), at + "[]"
        values = ", ".join(f"`{v}`" for v in child.get("enum", []))
        default = f" (default `{child['default']}`)" if "default" in child else ""
        about = " ".join(child.get("description", "").split()).replace("|", "\\|")
        out.append(f"| `{at}` | {kind} | {about}{': ' + values if values else ''}{default} |")
        fields_of(below, at, out)


def fields():
    import yaml
    text = ["# Fields", "", "The custom resources, from their definitions."]
    folder = os.path.join(ROOT, "deploy", "crds")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".yaml"):
            continue
        for crd in yaml.safe_load_all(read(os.path.join(folder, name))):
            if not crd or crd.get("kind") != "CustomResourceDefinition":
                continue
            for version in crd["spec"]["versions"]:
                schema = version["schema"]["openAPIV3Schema"]
                text += ["", f"## {crd['spec']['names']['kind']}", "", f"`{crd['spec']['group']}/{version['name']}`",
                         "", "| field | type | meaning |", "| --- | --- | --- |"]
                rows = []
                for top in ("spec", "status"):
                    if top in schema.get("properties", {}):
                        fields_of({"properties": {top: schema["properties"][top]}}, "", rows)
                text += rows
    return "\n".join(text) + "\n"


# ---- mkdocs ----

def title_of(text, path):
    found = re.search(r"^# (.+)$", text, re.M)
    return found.group(1) if found else path


def configuration(to, pages, site):
    listed = [page for _, section in NAV for page in section]
    lines = ["site_name: slipway", "docs_dir: " + quoted(to), "site_dir: " + quoted(site), "use_directory_urls: false",
             "plugins: [search]", "markdown_extensions: [tables, fenced_code, toc]"]
    themes = subprocess.run(["mkdocs", "build", "--help"], check=True, capture_output=True, text=True).stdout
    if "material" in themes:
        lines += ["theme: {name: material, font: false, features: [navigation.tabs, navigation.top]}"]
    else:
        lines += ["theme: {name: readthedocs, highlightjs: false}"]
    lines.append("nav:")
    sections = list(NAV) + [("Recipes and states", [p for p in pages if p.endswith(".md") and p not in listed and p not in TOP])]
    for title, section in sections:
        lines.append(f"- {quoted(title)}:")
        for page in section:
            lines.append(f"  - {quoted(title_of(read(os.path.join(to, page)), page))}: {quoted(page)}")
    return "\n".join(lines) + "\n"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("`", "") + '"'


# ---- links ----

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.links, self.others = set(), [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for key in ("id", "name"):
            if attrs.get(key):
                self.ids.add(attrs[key])
        to = attrs.get("href") if tag in ("a", "link") else attrs.get("src")
        if to and tag == "a":
            self.links.append(to)
        elif to:
            self.others.append(to)


def check_links(site):
    """Every link of a page leads to a page and heading of the site, and nothing is loaded from elsewhere."""
    pages, faults = {}, []
    for at, _, files in os.walk(site):
        for name in files:
            if name.endswith(".html"):
                page = Page()
                path = os.path.relpath(os.path.join(at, name), site)
                page.feed(read(os.path.join(site, path)))
                pages[path] = page
    n = 0
    for path, page in sorted(pages.items()):
        if path == "404.html":
            continue
        for to in page.others:
            if re.match(r"(https?:)?//", to):
                faults.append(f"{path}: {to} is loaded from elsewhere")
        for to in page.links:
            if re.match(r"([a-z]+:|//)", to):
                continue
            n += 1
            target, _, heading = to.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), urllib.parse.unquote(target))) if target else path
            if os.path.isdir(os.path.join(site, target)):
                target = posixpath.normpath(posixpath.join(target, "index.html"))
            if not os.path.exists(os.path.join(site, target)):
                faults.append(f"{path}: {to} leads nowhere")
            elif heading and target in pages and urllib.parse.unquote(heading) not in pages[target].ids:
                faults.append(f"{path}: {to}: there is no such heading")
    return len(pages), n, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "site"))
    parser.add_argument("--source", default=os.environ.get("SOURCE_URL", ""))
    args = parser.parse_args()
    if not shutil.which("mkdocs"):
        fail("no mkdocs here: apt-get install mkdocs mkdocs-material, or dnf install mkdocs mkdocs-material")
    build = os.path.join(ROOT, "build")
    site, work = os.path.abspath(args.out), os.path.abspath(args.out) + ".pages"
    shutil.rmtree(work, ignore_errors=True)
    pages = pages_of_tree()
    stage(pages, work, args.source)
    write(os.path.join(work, "reference", "commands.md"), commands(build))
    write(os.path.join(work, "reference", "fields.md"), fields())
    config = work + ".yml"
    write(config, configuration(work, pages, site))
    done = subprocess.run(["mkdocs", "build", "--quiet", "--strict", "--clean", "--config-file", config], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    sys.stderr.write(done.stdout)
    if done.returncode:
        fail("mkdocs found what is above", 1)
    shutil.rmtree(work)
    os.unlink(config)
    n, links, faults = check_links(site)
    for fault in faults:
        print(fault)
    print(f"{n} pages, {links} links: {site}/index.html")
    sys.exit(bool(faults))


main()
