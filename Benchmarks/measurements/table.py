"""The table of results, and the record of a run that is kept."""

import statistics
import sys


class Table:
    """The rows of results, as they are printed and recorded."""

    def __init__(self):
        self.rows = []
        self.notes = []
        self.sizes = []
        self.uploads = self.one_upload = None

    def add(self, what, unit, ours, peer=None, bar=None, value=None, peer_name=None):
        """Adds a row. `ours` and `peer` are lists of samples. `bar` is (comparison, limit) and judges
        `value`, by default the ratio of the medians."""
        mine = statistics.median(ours)
        theirs = statistics.median(peer) if peer else None
        ratio = mine / theirs if theirs else None
        judged = ratio if value is None else value
        reached = None
        if bar:
            reached = judged >= bar[1] if bar[0] == ">=" else judged <= bar[1]
        self.rows.append({
            "what": what, "unit": unit, "ours": mine, "peer": theirs, "peer_name": peer_name,
            "ratio": ratio, "bar": f"{bar[0]} {bar[1]:g}" if bar else None, "judged": judged,
            "reached": reached, "ours_samples": ours, "peer_samples": peer})

    def note(self, text):
        """Adds a note below the table, and prints it at once."""
        self.notes.append(text)
        print(f"  {text}", file=sys.stderr)

    def text(self):
        """The table and its notes as text."""
        def number(value):
            return "" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"

        lines = [("what", "unit", "ours", "peer", "", "ratio", "bar", "reached")]
        for row in self.rows:
            lines.append((
                row["what"], row["unit"], number(row["ours"]), number(row["peer"]),
                row["peer_name"] or "", f"{row['ratio']:.2f}" if row["ratio"] else "",
                row["bar"] or "", {None: "", True: "yes", False: "no"}[row["reached"]]))
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        numeric = {2, 3, 5}
        out = ["  ".join(
            cell.rjust(width) if i in numeric else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines]
        return "\n".join(out + [f"Note: {note}" for note in self.notes]) + "\n"
