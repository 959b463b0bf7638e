"""Draws lines and bars as SVG that needs nothing else: no script, no font. It is dark where the reader's system is.

The look is that of `formstream bench --plot`."""

import html
import math

WIDTH = 700
MARGIN = 16
# Two lines of text above everything else.
HEAD = 62
ROW, HEADING = 22, 28
PALETTE = (("#0b63c4", "#6cb2ff"), ("#c2410c", "#ff9a62"), ("#107a48", "#5fd39a"), ("#8b2fb0", "#d99bf2"),
           ("#8a6a00", "#e6c34d"), ("#4b5563", "#b6bec8"))
# The dashes, like the names at the lines, are for readers who don't see the colors.
DASHES = ("", "9 4", "3 3", "12 4 3 4")


def number(value):
    """A figure as the table of results has it."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def amount(size):
    """Bytes for people: 17.6 MiB."""
    unit = min(max(int(math.log2(max(size, 1))) // 10, 0), 4)
    return f"{size / 1024 ** unit:.3g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[unit]}"


class Axis:
    """Maps values to shares of an axis. `marks` are values with their texts."""

    def __init__(self, title, first, last, marks, is_logarithmic=False):
        # Steps that look alike are factors then, not differences.
        self.title, self.marks = title + (" (logarithmic)" if is_logarithmic else ""), marks
        scale = math.log2 if is_logarithmic else float
        low, high = scale(first), scale(last)
        self.share = lambda value: (scale(max(value, first)) - low) / (high - low)

    @classmethod
    def linear(cls, title, largest, unit=1, is_exact=False, most=7):
        """From 0 in at most so many steps of 1, 2 or 5 times a power of ten. It ends at a mark, or exactly at the largest."""
        largest = largest / unit or 1
        power = 10 ** math.floor(math.log10(largest))
        step = next(step for step in (power / 5, power / 2, power, 2 * power, 5 * power) if largest / step <= most)
        count = math.floor(largest / step + 1e-9) if is_exact else math.ceil(largest / step - 1e-9)
        return cls(title, 0, unit * (largest if is_exact else count * step),
                   [(index * step * unit, number(index * step)) for index in range(count + 1)])

    @classmethod
    def memory(cls, title, values):
        """Each mark is twice the one before, or four times. One picture then shows small and large programs."""
        low = math.floor(math.log2(min(values)))
        high = max(math.ceil(math.log2(max(values))), low + 1)
        step = 2 if high - low > 6 else 1
        low -= (high - low) % step
        marks = range(low, high + 1, step)
        return cls(title, 2 ** low, 2 ** high, [(2 ** mark, amount(2 ** mark)) for mark in marks], True)


class Picture:
    """An SVG with a title and a line below it. Things are added from the top to the bottom."""

    def __init__(self, title, below, description):
        self.title, self.description = title, description
        self.height = HEAD
        self.elements = []
        self.text(MARGIN, 26, title, "title")
        self.text(MARGIN, 46, below, "quiet")

    def text(self, x, y, text, kind=None, anchor="start"):
        chosen = f' class="{kind}"' if kind else ""
        self.elements.append(
            f'<text{chosen} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>')

    def line(self, kind, x1, y1, x2, y2):
        self.elements.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def lines(self, x, y, named, height=300, right=196):
        """A panel of lines. `named` has names, points and numbers of colors; a name stands at the end of its line."""
        left, top = 78, self.height + 28
        right, bottom = WIDTH - right, top + height

        def place(point):
            return left + x.share(point[0]) * (right - left), bottom - y.share(point[1]) * (bottom - top)

        self.text(MARGIN, self.height + 12, y.title, "quiet")
        for value, text in y.marks:
            down = place((x.marks[0][0], value))[1]
            self.line("grid", left, down, right, down)
            self.text(left - 8, down + 4, text, anchor="end")
        for value, text in x.marks:
            across = place((value, y.marks[0][0]))[0]
            self.line("grid", across, bottom, across, bottom + 5)
            self.text(across, bottom + 20, text, anchor="middle")
        self.text((left + right) / 2, bottom + 40, x.title, "quiet", "middle")
        ends = []
        for index, (name, points, colour) in enumerate(named):
            placed = [place(point) for point in points]
            colour, dashes = colour % len(PALETTE), DASHES[index % len(DASHES)]
            dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
            drawn = " ".join(f"{across:.1f},{down:.1f}" for across, down in placed)
            self.elements.append(f'<polyline class="line c{colour}"{dashed} points="{drawn}"/>')
            ends.append((*placed[-1], name, colour))
        self.names(sorted(ends, key=lambda end: end[1]), right + 26, bottom)
        self.height = bottom + 54

    def names(self, ends, left, bottom):
        """The names of lines, as near to their ends as the others leave room, and connected with them."""
        downs = []
        for _, down, _, _ in ends:
            downs.append(max(down, downs[-1] + 18 if downs else 0))
        limit = bottom
        for index in reversed(range(len(downs))):
            downs[index] = min(downs[index], limit)
            limit = downs[index] - 18
        for (across, end, name, colour), down in zip(ends, downs):
            self.line(f"c{colour}", across + 2, end, left - 4, down)
            self.text(left, down + 4, name)

    def bars(self, title, groups):
        """A panel of horizontal bars. A group has a heading, or None, and bars: name, value, and whether it is ours."""
        bars = [bar for _, bars in groups for bar in bars]
        # Letters of a wide font; names of our bars are bold.
        left = MARGIN + 8 + max(len(name) * (8.5 if is_ours else 7.6) for name, _, is_ours in bars)
        right = WIDTH - 76
        axis = Axis.linear(title, max(value for _, value, _ in bars), most=min(max((right - left) / 70, 2), 7))
        down = self.height
        bottom = down + ROW * len(bars) + HEADING * sum(heading is not None for heading, _ in groups)
        for value, text in axis.marks:
            across = left + axis.share(value) * (right - left)
            self.line("grid", across, down, across, bottom + 4)
            self.text(across, bottom + 20, text, anchor="middle")
        self.text((left + right) / 2, bottom + 40, axis.title, "quiet", "middle")
        for heading, members in groups:
            if heading:
                down += HEADING
                self.text(MARGIN, down - 8, heading, "heading")
            for name, value, is_ours in members:
                width = max(axis.share(value) * (right - left), 1)
                kind = "ours" if is_ours else "peer"
                self.text(left - 8, down + 15, name, kind, "end")
                self.elements.append(
                    f'<rect class="{kind}" x="{left:.1f}" y="{down + 3}" width="{width:.1f}" height="{ROW - 6}"/>')
                self.text(left + width + 6, down + 15, number(value), kind)
                down += ROW
        self.height = bottom + 62

    def svg(self):
        def colours(index):
            return "\n".join(f".c{place} {{ stroke: {pair[index]}; }}" for place, pair in enumerate(PALETTE))

        def look(back, ink, quiet, grid, ours, peer):
            # Literal colors: many viewers don't know variables, and would draw black on black.
            return f""".back {{ fill: {back}; }}
text {{ fill: {ink}; stroke: {back}; }}
.quiet {{ fill: {quiet}; }}
.grid {{ stroke: {grid}; }}
rect.ours {{ fill: {ours}; }}
rect.peer {{ fill: {peer}; }}"""

        elements = "\n".join(self.elements)
        return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" \
width="{WIDTH}" height="{self.height}" role="img" aria-labelledby="title description">
<title id="title">{html.escape(self.title)}</title>
<desc id="description">{html.escape(self.description)}</desc>
<style>
:root {{ color-scheme: light dark; }}
text {{ font: 13px system-ui, sans-serif; paint-order: stroke; stroke-width: 4px; stroke-linejoin: round; }}
.title {{ font-size: 16px; font-weight: 600; }}
.heading, text.ours {{ font-weight: 600; }}
.line {{ fill: none; stroke-width: 2.5; stroke-linejoin: round; }}
{look("#ffffff", "#1b1f24", "#525b66", "#d5d9de", PALETTE[0][0], "#7d8792")}
{colours(0)}
@media (prefers-color-scheme: dark) {{
{look("#14181d", "#e8ebee", "#a9b2bc", "#3a424b", PALETTE[0][1], "#6b7682")}
{colours(1)}
}}
</style>
<rect width="{WIDTH}" height="{self.height}" class="back"/>
{elements}
</svg>
"""
