"""Chooses from a record what its pictures show. README.md says which there are."""

import json
import statistics
import sys

from .drawing import Axis, Picture, amount, number
from .programs import GIB, MIB


class Missing(Exception):
    """The record has nothing for a picture."""


def draw(directory):
    """Draws the record in a directory: those pictures that it has something for."""
    results = json.loads((directory / "results.json").read_text())
    for name, picture in PICTURES.items():
        path = directory / f"{name}.svg"
        try:
            path.write_text(picture(results).svg())
        except Missing as missing:
            # One of an earlier run on the same day would be of other figures.
            path.unlink(missing_ok=True)
            print(f"  {path.name} was not drawn: {missing}", file=sys.stderr)


def below(results):
    """Which machine, when, and which commit."""
    machine = results["machine"]
    quick = ["a quick run, not to judge"] if results["quick"] else []
    return " · ".join([f"{machine['processor']}, {machine['cores']} cores", results["date"][:10],
                       f"commit {results['commit']}", *quick])


# MARK: Uploads by several programs

def contenders(results):
    """The programs of section `contenders` by name, and their uploads by size, if there are any."""
    programs = (results.get("uploads") or {"programs": []})["programs"]
    found = {program["name"]: {size["size"]: size for size in program["sizes"]} for program in programs}
    found = {name: sizes for name, sizes in found.items() if sizes}
    if not found:
        raise Missing("the section contenders was not measured.")
    return found


def memory_over_size(results):
    lines, programs = [], contenders(results)
    largest = max(size for sizes in programs.values() for size in sizes)
    for name, sizes in programs.items():
        peaks = {size: [run["peak"] for run in upload["runs"] if run["peak"]] for size, upload in sizes.items()}
        points = [(size, statistics.median(peak)) for size, peak in sorted(peaks.items()) if peak]
        if points:
            size, peak = points[-1]
            # A program that needs too much memory is ended, and has only smaller sizes.
            name += f" {amount(peak)}" if size == largest else f" up to {amount(size)}"
            lines.append((name, points, len(lines)))
    values = [(size, peak) for _, points, _ in lines for size, peak in points]
    sizes = sorted({size for size, _ in values})
    if len(sizes) < 2:
        raise Missing("the section contenders has fewer than two sizes.")
    picture = Picture("The most memory that an upload needs", below(results), "Peak memory by the size of the upload, "
                      f"and at {amount(sizes[-1])}: {', '.join(name for name, _, _ in lines)}.")
    picture.lines(Axis("Size of the upload", sizes[0], sizes[-1], [(size, amount(size)) for size in sizes], True),
                  Axis.memory("Peak memory", [peak for _, peak in values]), lines)
    return picture


def memory_over_time(results):
    if not results.get("one_upload"):
        raise Missing("the section contenders was not measured.")
    ours = results["one_upload"]["programs"][0]["sizes"][0]
    size, samples = ours["size"], ours["samples"]
    programs = {"FormStream": samples}
    for length, upload in contenders(results).get("curl", {}).items():
        # Our size is that of the body, in which the file has a head and an end.
        if 0 <= size - length < MIB and upload["samples"]:
            programs["curl"] = upload["samples"]
    memory = [(f"{name}, {what}", [(sample[0], sample[place]) for sample in taken], colour)
              for colour, (name, taken) in enumerate(programs.items())
              for what, place in (("in memory", 1), ("allocated", 2))]
    seconds = max(point[0] for _, points, _ in memory for point in points)
    largest = max(point[1] for _, points, _ in memory for point in points)
    picture = Picture(
        f"Memory during an upload of {amount(size)}", below(results),
        f"The most memory: {', '.join(f'{name} {amount(max(point[1] for point in points))}' for name, points, _ in memory)}. "
        f"FormStream's upload takes {number(samples[-1][0])} seconds.")
    axis = Axis.linear("Seconds", seconds, is_exact=True)
    picture.lines(axis, Axis.linear("Memory, MiB", largest, MIB), memory, height=210)
    unit, name = (GIB, "GiB") if size >= GIB else (MIB, "MiB")
    picture.lines(axis, Axis.linear(f"Handed over to the system, {name}", size, unit, is_exact=True),
                  [("FormStream", [(sample[0], sample[3]) for sample in samples], 0)], height=110)
    return picture


def processor(results):
    programs = contenders(results)
    largest = max(size for sizes in programs.values() for size in sizes)
    bars = []
    for name, sizes in programs.items():
        size = max(sizes)
        seconds = statistics.median(run["processor_seconds"] for run in sizes[size]["runs"])
        bars.append((name if size == largest else f"{name}, {amount(size)}", seconds * GIB / size,
                     name == "formstream"))
    bars.sort(key=lambda bar: (not bar[2], bar[1]))
    picture = Picture(f"Processor time of an upload of {amount(largest)}", below(results),
                      f"Processor seconds a GiB: {told(bars)}.")
    picture.bars("Processor seconds a GiB (less is better)", [(None, bars)])
    return picture


# MARK: Rows of the table

def told(bars):
    return ", ".join(f"{name} {number(value)}" for name, value, _ in bars)


def of_rows(results, title, panels):
    """Draws panels: the name of an axis, and rows, each with the name of its group and with what it is in the group."""
    grouped = []
    for axis, rows in panels:
        groups = {}
        for name, variant, row in rows:
            bars = groups.setdefault(name[0].upper() + name[1:], {})
            for bar, value, is_ours in ((f"FormStream, {variant}" if variant else "FormStream", row["ours"], True),
                                        (row["peer_name"], row["peer"], False)):
                if value is not None:
                    bars.setdefault(bar, (bar, value, is_ours))
        grouped.append((axis, [(name, sorted(bars.values(), key=lambda bar: not bar[2]))
                               for name, bars in groups.items()]))
    picture = Picture(title, below(results), " ".join(
        f"{axis}: {'; '.join(f'{name}: {told(bars)}' for name, bars in groups)}." for axis, groups in grouped))
    for axis, groups in grouped:
        picture.bars(axis, groups)
    return picture


def requests(results):
    panels, groups, subject = {}, [], ""
    for row in results["rows"]:
        what = row["what"]
        if what.startswith("the same"):
            what = subject + what.removeprefix("the same")
        else:
            subject = what
        if row["unit"] == "1/s":
            group = next((group for group in groups if what == group or what.startswith(f"{group}, ")), what)
            groups.append(group)
            # Another number of requests at the same time is no peer.
            if (row["peer_name"] or "").startswith("the best of"):
                row = {**row, "peer": None}
            # The delay of the link makes all figures much smaller.
            where = " on the link" if " on a link" in group else ""
            panels.setdefault(f"Requests a second{where} (more is better)", []).append((group, what[len(group) + 2:], row))
    if not panels:
        raise Missing("neither the section requests nor many was measured.")
    return of_rows(results, "Sending small files", panels.items())


def parsing(results):
    panels, seen = {}, set()
    for row in results["rows"]:
        kind, _, pieces = row["what"].removeprefix("parsing ").partition(", ")
        # Pieces of another size are drawn only if they are what another peer was measured with.
        if row["what"].startswith("parsing ") and pieces != "alone" and (kind, row["peer_name"]) not in seen:
            seen.add((kind, row["peer_name"]))
            unit = row["unit"]
            better = "more" if unit.endswith("/s") else "less"
            # Times of different bodies can't be compared.
            panel = kind if unit in ("s", "ms") else unit
            panels.setdefault(panel, (f"{unit} ({better} is better)", []))[1].append((kind, pieces, row))
    if not panels:
        raise Missing("the section parsing was not measured.")
    return of_rows(results, "Parsing by kind of bytes", panels.values())


PICTURES = {"memory-over-size": memory_over_size, "memory-over-time": memory_over_time, "processor": processor,
            "requests": requests, "parsing": parsing}
