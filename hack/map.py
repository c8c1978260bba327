#!/usr/bin/env python3
"""Draw the map of src/ (docs/architecture.svg) from its text (docs/architecture.map).

usage: hack/map.py [--check] [--map FILE] [--svg FILE] [--table FILE]

--check draws nothing. It prints one line a fault and exits 1 where the SVG is not what the text
gives, where a district or a module of src/modules.txt is not on the map or the map has one that is
not in the table, where a way stops at no module, or where a colour cannot be read on its ground.
"""
import argparse
import re
import sys
from xml.sax.saxutils import escape

WIDTH, MARGIN, GAP = 1160, 20, 14
ROOM, WAY_ROW, HEAD = 26, 24, 24  # heights: a room's name, the stops below it, a house's name
FONT, SMALL = 13, 12
LETTER = 7.5  # width of a letter of FONT

# name: (on light ground, on dark ground)
COLOURS = {
    "ground": ("#ffffff", "#0d1117"),
    "house": ("#f3f4f6", "#161b22"),
    "room": ("#ffffff", "#21262d"),
    "line": ("#6b7280", "#8b949e"),
    "text": ("#1f2328", "#e6edf3"),
    "red": ("#b3261e", "#ff9d94"),
    "blue": ("#0b57d0", "#8ab8ff"),
    "green": ("#146c2e", "#6fdd8b"),
}
READ_ON = (("text", "ground"), ("text", "house"), ("text", "room")) + tuple(
    (way, ground) for way in ("red", "blue", "green") for ground in ("ground", "house", "room")
)


class House:
    def __init__(self, name):
        self.name, self.rows = name, []  # rows of (module, label); module None: a label alone

    def add_row(self, words):
        prefix = words[0] if words[0].endswith("/") else ""
        row = [(None, prefix)] if prefix else []
        for room in words[1:] if prefix else words:
            module = self.name if room == "." else f"{self.name}/{prefix}{room}"
            row.append((module, self.name if room == "." else room))
        self.rows.append(row)

    def modules(self):
        return [module for row in self.rows for module, _ in row if module]


def width_of(label):
    return len(label) * LETTER + 18


class Way:
    def __init__(self, colour, title):
        self.colour, self.title, self.stops = colour, title, []  # stops: (module, text)


def read_map(path, faults):
    """@return (floors, ways): floors are lists of houses, from the roof down"""
    floors, ways, at = [], [], None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if line[0] == " " and isinstance(at, House):
                at.add_row(words)
            elif line[0] == " " and isinstance(at, Way) and ":" in line:
                module, text = line.split(":", 1)
                at.stops.append((module.strip(), text.strip()))
            elif words == ["floor"]:
                floors.append([])
            elif words[0] == "house" and len(words) == 2 and floors:
                at = House(words[1])
                floors[-1].append(at)
            elif words[0] == "way" and len(words) > 2 and words[1] in ("red", "blue", "green"):
                at = Way(words[1], " ".join(words[2:]))
                ways.append(at)
            else:
                faults.append(f"{path}:{number}: not understood: {line.strip()}")
    return floors, ways


def brightness(colour):
    """Relative luminance as WCAG 2 has it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a, b):
    light, dark = sorted((brightness(a), brightness(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def style():
    def rules(which):
        c = {name: pair[which] for name, pair in COLOURS.items()}
        out = [
            f".ground{{fill:{c['ground']}}}",
            f".house{{fill:{c['house']};stroke:{c['line']}}}",
            f".room{{fill:{c['room']};stroke:{c['line']};stroke-width:.7}}",
            f"text{{fill:{c['text']}}} .label{{stroke:{c['room']}}}",
        ]
        for way in ("red", "blue", "green"):
            out.append(f".{way}{{stroke:{c[way]}}} .stop.{way}{{fill:{c[way]}}}")
            out.append(f"text.{way}{{fill:{c[way]};stroke:none}}")
        out.append(f"text.number{{fill:{c['ground']}}}")
        return "\n".join(out)

    return (
        "<style>\n"
        f"text{{font:{FONT}px system-ui,sans-serif}} .small{{font-size:{SMALL}px}} .head{{font-weight:600}}\n"
        ".number{font-size:10px;font-weight:600;text-anchor:middle} .label{text-anchor:middle;paint-order:stroke;stroke-width:4;stroke-linejoin:round}\n"
        ".way{fill:none;stroke-width:2;opacity:.75;stroke-linejoin:round}\n"
        f"{rules(0)}\n@media (prefers-color-scheme: dark){{\n{rules(1)}\n}}\n</style>"
    )


def lay_out(floors, ways):
    """@return (rectangles of the houses, of the rooms, labels alone, height of all)"""
    stops = {module for way in ways for module, _ in way.stops}
    houses, rooms, labels, y = {}, {}, [], MARGIN
    for floor in floors:
        need = [max(sum(width_of(label) for _, label in row) + 6 * (len(row) + 1) for row in h.rows) for h in floor]
        spare = WIDTH - 2 * MARGIN - GAP * (len(floor) - 1) - sum(need)
        x, tallest = MARGIN, 0
        for house, width in zip(floor, need):
            width += spare * width / sum(need)
            row_y = y + HEAD
            for row in house.rows:
                has_stop = any(module in stops for module, _ in row)
                height = ROOM + (WAY_ROW if has_stop else 0)
                natural = sum(width_of(label) for module, label in row if module)
                alone = sum(width_of(label) for module, label in row if not module)
                room_x, free = x + 6, width - 6 * (len(row) + 1)
                for module, label in row:
                    w = width_of(label) * ((free - alone) / natural if module else 1)
                    if module:
                        rooms[module] = (room_x, row_y, w, height, label)
                    else:
                        labels.append((room_x, row_y, w, label))
                    room_x += w + 6
                row_y += height + 6
            houses[house.name] = [x, y, width, row_y - y]
            tallest = max(tallest, row_y - y)
            x += width + GAP
        for house in floor:
            houses[house.name][3] = tallest
        y += tallest + GAP
    return houses, rooms, labels, y


def wrap(text, letters):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > letters:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + [line]


def draw(floors, ways):
    houses, rooms, labels, y = lay_out(floors, ways)
    out = []
    for name, (x, top, width, height) in houses.items():
        out.append(f'<rect class="house" x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"/>')
        out.append(f'<text class="head" x="{x + 8:.1f}" y="{top + 17:.1f}">{escape(name)}</text>')
    for x, top, width, height, _ in rooms.values():
        out.append(f'<rect class="room" x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3"/>')

    # each stop has a place of its own below its room's name
    in_room = {}
    for way in ways:
        for i, (module, _) in enumerate(way.stops):
            in_room.setdefault(module, []).append((way, i))
    places = {}
    for module, visits in in_room.items():
        x, top, width, height, _ = rooms[module]
        step = min(22, width / len(visits))
        for k, visit in enumerate(visits):
            places[visit] = (x + width / 2 + (k - (len(visits) - 1) / 2) * step, top + ROOM + 10)
    for way in ways:
        points = [places[(way, i)] for i in range(len(way.stops))]
        path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            if abs(y1 - y0) < 2:  # beside each other: an arc below the names
                path += f" Q{(x0 + x1) / 2:.1f} {y0 + 20:.1f} {x1:.1f} {y1:.1f}"
            else:
                bend = (y1 - y0) * 0.45
                path += f" C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
        out.append(f'<path class="way {way.colour}" d="{path}"/>')
    for x, top, width, label in labels + [(x, top, width, label) for x, top, width, _, label in rooms.values()]:
        out.append(f'<text class="label" x="{x + width / 2:.1f}" y="{top + 18:.1f}">{escape(label)}</text>')
    for way in ways:
        for i in range(len(way.stops)):
            x, top = places[(way, i)]
            out.append(f'<circle class="stop {way.colour}" cx="{x:.1f}" cy="{top:.1f}" r="9"/>')
            out.append(f'<text class="number" x="{x:.1f}" y="{top + 3.5:.1f}">{i + 1}</text>')

    # what the numbers mean, a column a way
    width = (WIDTH - 2 * MARGIN - GAP * (len(ways) - 1)) / len(ways)
    bottom = y
    for n, way in enumerate(ways):
        x, line_y = MARGIN + n * (width + GAP), y + 16
        for line in wrap(way.title.replace("`", ""), int(width / 7.2)):
            out.append(f'<text class="head {way.colour}" x="{x:.1f}" y="{line_y:.1f}">{escape(line)}</text>')
            line_y += 18
        for i, (module, text) in enumerate(way.stops):
            out.append(f'<text class="small {way.colour}" x="{x:.1f}" y="{line_y:.1f}">{i + 1}</text>')
            for line in wrap(f"{module}: {text}", int((width - 20) / 6.2)):
                out.append(f'<text class="small" x="{x + 20:.1f}" y="{line_y:.1f}">{escape(line)}</text>')
                line_y += 16
        bottom = max(bottom, line_y)
    height = bottom + MARGIN / 2
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" role="img">\n'
        "<title>The districts of src/ and three ways through them</title>\n"
        f'{style()}\n<rect class="ground" width="{WIDTH}" height="{height:.0f}" rx="8"/>\n'
    )
    return head + "\n".join(out) + "\n</svg>\n"


def read_modules(path):
    with open(path, encoding="utf-8") as f:
        return {line.split("|")[0].strip() for line in f if re.match(r"[a-z]", line)}


def check(floors, ways, modules, path, faults):
    there = [m for floor in floors for house in floor for m in house.modules()]
    for module in sorted(modules - set(there)):
        faults.append(f"{path}: the module {module} is not on the map")
    for module in sorted(set(there) - modules):
        faults.append(f"{path}: {module} is on the map and has no row in the table")
    for module in sorted({m for m in there if there.count(m) > 1}):
        faults.append(f"{path}: {module} is on the map twice")
    for way in ways:
        for module, _ in way.stops:
            if module not in there:
                faults.append(f"{path}: the way '{way.title}' stops at {module}, which is no module")
    for text, ground in READ_ON:
        for which, name in enumerate(("light", "dark")):
            if contrast(COLOURS[text][which], COLOURS[ground][which]) < 4.5:
                faults.append(f"{text} cannot be read on {ground}, {name}")


def main():
    arguments = argparse.ArgumentParser(description="Draw docs/architecture.svg from docs/architecture.map.")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--map", default="docs/architecture.map")
    arguments.add_argument("--svg", default="docs/architecture.svg")
    arguments.add_argument("--table", default="src/modules.txt")
    options = arguments.parse_args()
    faults, modules = [], read_modules(options.table)
    floors, ways = read_map(options.map, faults)
    check(floors, ways, modules, options.map, faults)
    svg = None if faults else draw(floors, ways)
    if svg and options.check:
        try:
            with open(options.svg, encoding="utf-8") as f:
                is_same = f.read() == svg
        except FileNotFoundError:
            is_same = False
        if not is_same:
            faults.append(f"{options.svg} is not what {options.map} gives: make map")
    elif svg:
        with open(options.svg, "w", encoding="utf-8") as f:
            f.write(svg)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
