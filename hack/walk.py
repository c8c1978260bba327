#!/usr/bin/env python3
"""Draw a walk as a moving picture (docs/walk.svg) from what `slipway run` printed (docs/walk.txt).

usage: hack/walk.py [--record PROGRAM] [--check [PROGRAM]]

--record runs `PROGRAM run recipes/nvidia-mig --emulate` and writes what it prints to docs/walk.txt first. --check says
whether the picture is what the recording gives and, with PROGRAM, whether this program still walks the states of the
recording. The same recording gives the same bytes.
"""
import argparse
import os
import re
import subprocess
import sys

COMMAND = "slipway run recipes/nvidia-mig --emulate"
TEXT, SVG = "docs/walk.txt", "docs/walk.svg"
LINE = re.compile(r"^ *([0-9.]+)(ms|s)  (?:State(Started|Ready): state (\S+): (?:started|ready)(?: \((\d+) objects?\))?|(\S+: Ready))$")
WIDTH, LEFT, BAR, ROW, TOP = 820, 24, 330, 26, 84
REST = 4.0  # seconds that the end is shown before it begins again


def record(program):
    env = dict(os.environ, SLIPWAY_STAND_INS="1")
    return subprocess.run([program, *COMMAND.split()[1:]], env=env, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout


def read_walk(text):
    """[[name, started, ready, objects]] of the states in their order, and when all was ready."""
    states, end = {}, 0.0
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        at = float(found[1]) / (1000 if found[2] == "ms" else 1)
        end = max(end, at)
        if found[3] == "Started":
            states[found[4]] = [found[4], at, at, found[5] or "0"]
        elif found[3] and found[4] in states:
            states[found[4]][2] = at
    return list(states.values()), end


def draw(text):
    states, end = read_walk(text)
    total = end + REST
    height = TOP + ROW * len(states) + 62
    scale = (WIDTH - LEFT - BAR - 90) / end

    def percent(at):
        return f"{100 * at / total:.2f}%"

    rules, rows = [], []

    def appears(name, at):
        """A rule: shown from @at on, until all begins again."""
        rules.append(f"@keyframes {name}{{0%,{percent(at)}{{opacity:0}}{percent(at + .01)},100%{{opacity:1}}}}"
                     f".{name}{{animation:{name} {total:.2f}s infinite}}")

    def grows(name, since, until):
        rules.append(f"@keyframes {name}{{0%,{percent(since)}{{transform:scaleX(0)}}{percent(max(until, since + .02))},100%{{transform:scaleX(1)}}}}"
                     f".{name}{{animation:{name} {total:.2f}s linear infinite}}")

    for i, (name, since, until, objects) in enumerate(states):
        y = TOP + ROW * i
        x, width = LEFT + BAR + scale * since, max(scale * (until - since), 3)
        appears(f"a{i}", since)
        grows(f"b{i}", since, until)
        appears(f"c{i}", until)
        rows.append(f'<g class="a{i}"><text x="{LEFT}" y="{y + 14}">{name}</text>'
                    f'<text class="dim" x="{LEFT + 250}" y="{y + 14}">{objects if objects != "0" else "-"}</text></g>'
                    f'<rect class="bar b{i}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="14" rx="2"/>'
                    f'<text class="ready c{i}" x="{x + width + 8:.1f}" y="{y + 14}">Ready {until:.1f} s</text>')
    appears("end", end)
    grows("all", 0, end)
    bottom = TOP + ROW * len(states) + 16
    wide = WIDTH - LEFT - BAR - 90
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
        f"<title>{COMMAND}: {len(states)} states get ready, one after another or beside each other, in {end:.1f} seconds</title>\n"
        "<style>\n"
        "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}\n"
        ".ground{fill:#ffffff;stroke:#d0d7de}.head{fill:#f3f4f6}.dim{fill:#57606a}.ready{fill:#146c2e}.bar{fill:#0b57d0}.track{fill:#e5e7eb}\n"
        ".bar{transform-box:fill-box;transform-origin:0 50%}\n"
        "@media (prefers-color-scheme: dark){text{fill:#e6edf3}.ground{fill:#0d1117;stroke:#30363d}.head{fill:#161b22}.dim{fill:#9ea7b3}"
        ".ready{fill:#6fdd8b}.bar{fill:#8ab8ff}.track{fill:#30363d}}\n"
        + "\n".join(rules)
        + "\n@media (prefers-reduced-motion: reduce){*{animation:none!important}}\n</style>\n"
        f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
        f'<path class="head" d="M1 36V9a8 8 0 0 1 8-8H{WIDTH - 9}a8 8 0 0 1 8 8V36z"/>\n'
        f'<text x="{LEFT}" y="23">$ {COMMAND}</text>\n'
        f'<text class="dim" x="{LEFT}" y="64">STATE</text><text class="dim" x="{LEFT + 250}" y="64">OBJECTS</text>\n'
        + "\n".join(rows)
        + f'\n<rect class="track" x="{LEFT + BAR}" y="{bottom + 3}" width="{wide}" height="14" rx="2"/>'
        f'<rect class="bar all" x="{LEFT + BAR}" y="{bottom + 3}" width="{wide}" height="14" rx="2"/>\n'
        f'<text class="ready end" x="{LEFT}" y="{bottom + 14}">nvidia-mig  Ready  {len(states)}/{len(states)} states  {end:.1f} s</text>\n</svg>\n')


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--record", metavar="PROGRAM")
    arguments.add_argument("--check", metavar="PROGRAM", nargs="?", const="")
    options = arguments.parse_args()
    if options.check is None:
        if options.record:
            write(TEXT, record(options.record))
        write(SVG, draw(read(TEXT)))
        return 0
    faults = []
    if read(SVG) != draw(read(TEXT)):
        faults.append(f"{SVG} is not what {TEXT} gives: hack/walk.py")
    if options.check:
        recorded, now = ({(s[0], s[3]) for s in read_walk(text)[0]} for text in (read(TEXT), record(options.check)))
        faults += [f"{TEXT}: state {name} with {objects} objects is {'new' if (name, objects) in now else 'gone'}: make walk"
                   for name, objects in sorted(recorded ^ now)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main())
