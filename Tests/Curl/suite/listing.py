"""The list of what is different on purpose: the tests in `differences.toml`, and the reasons in `docs/coming-from-curl.md`."""

import re
import tomllib


class Listing:
    def __init__(self, file, page):
        content = tomllib.loads(file.read_text())
        self.different = {number: name for name, row in content["different"].items() for number in row["tests"]}
        self.refused = set(content["refused"]["tests"])
        self.short = content["short"]["tests"]
        table = page.read_text().partition("\n## What differs\n")[2].partition("\n## ")[0]
        self.reasons = dict(re.findall(r"^\| ([a-z]+) \| (.+) \|$", table, re.M))
        self.names = set(content["different"])

    def problems(self, results):
        """What is wrong with the results of tests, by number the kind of each, and with the list itself."""
        for name in sorted(self.names ^ set(self.reasons)):
            where = "docs/coming-from-curl.md" if name in self.names else "differences.toml"
            yield f"The difference \"{name}\" is not in {where}."
        for number, kind in results.items():
            listed = ("different" if number in self.different else "refused" if number in self.refused else "same")
            if kind == listed:
                continue
            if kind == "left out":
                if listed != "same":
                    yield f"Test {number} is listed as {listed}, and was left out."
            elif kind == "same":
                yield f"Test {number} is the same now: take it off the list."
            else:
                yield f"Test {number} is {kind}, and is not listed as that."
