"""Compares a reader's output with the expected parts, and with the list of allowed differences."""

import hashlib
import tomllib


def shown(content):
    """Bytes as text for the list of differences and for messages: exact, and short."""
    if content is None:
        return "(none)"
    if len(content) <= 400:
        try:
            return content.decode()
        except UnicodeDecodeError:
            pass
    return f"{len(content)} bytes of SHA-256 {hashlib.sha256(content).hexdigest()}"


def summary(part):
    file = f" ({shown(part['filename'])})" if part.get("filename") is not None else ""
    return f"{shown(part['name'])}{file}: {shown(part['bytes'])}"


def by_name(parts):
    """The order of parts that a reader put into tables: fields, then files, each by name."""
    places = {}
    for part in parts:
        places.setdefault((part["filename"] is not None, part["name"]), len(places))
    return sorted(parts, key=lambda part: (
        part["filename"] is not None, places[(part["filename"] is not None, part["name"])]))


def always_typed(expected, said):
    """One difference for all fields without a type, if the reader gives them all the same type."""
    types = {got["type"] for wanted, got in zip(expected, said)
             if wanted["filename"] is None and wanted["type"] is None and "type" in got}
    if len(types) != 1 or types == {None}:
        return {}
    return {"field.type": ("(none)", shown(types.pop()))}


def differences(expected, told, order):
    """By place, such as `0.name`: the expected value and the reader's."""
    if "error" in told:
        return {"error": ("(none)", told["error"])}
    said = told["parts"]
    if order == "by name":
        expected, said = by_name(expected), by_name(said)
    if len(expected) != len(said):
        return {"parts": ([summary(part) for part in expected], [summary(part) for part in said])}
    found = always_typed(expected, said)
    for index, (wanted, got) in enumerate(zip(expected, said)):
        for key in ("name", "filename", "type", "bytes"):
            # A reader leaves out what it does not know of.
            is_told = key == "type" and wanted["filename"] is None and "field.type" in found
            if key in got and got[key] != wanted[key] and not is_told:
                found[f"{index}.{key}"] = (shown(wanted[key]), shown(got[key]))
        if "sha256" in got and got["sha256"] != hashlib.sha256(wanted["bytes"]).hexdigest().encode():
            found[f"{index}.sha256"] = (
                hashlib.sha256(wanted["bytes"]).hexdigest(), got["sha256"].decode())
        if "size" in got and got["size"] != len(wanted["bytes"]):
            found[f"{index}.size"] = (len(wanted["bytes"]), got["size"])
        if "headers" in got:
            there = [(key.lower(), text) for key, text in got["headers"]]
            for key, text in wanted["headers"]:
                if (key.lower(), text) not in there:
                    values = [shown(other) for name, other in there if name == key.lower()]
                    found[f"{index}.{shown(key)}"] = (shown(text), " and ".join(values) or "(none)")
    return found


def quoted(said):
    """A text or a list in TOML, in ASCII, so that invisible characters can be seen."""
    if isinstance(said, list):
        return "[" + ", ".join(map(quoted, said)) + "]"
    if isinstance(said, int):
        return str(said)
    marks = {'"': '\\"', "\\": "\\\\", "\r": "\\r", "\n": "\\n", "\t": "\\t"}
    def mark(letter):
        if letter in marks:
            return marks[letter]
        code = ord(letter)
        if 0x20 <= code < 0x7F:
            return letter
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return '"' + "".join(map(mark, said)) + '"'


class Allowed:
    """The differences that are known: what a reader says, by reader, case and place.

    The case `*` stands for all that have a place: a reader that says it always is listed once.
    """

    def __init__(self, path, readers):
        """`readers` has the names of the cases of each reader."""
        self.table = {}
        self.used = set()
        for entry in tomllib.loads(path.read_text())["difference"]:
            assert set(entry) == {"reason", "says"} and entry["reason"], entry
            for names, says in entry["says"].items():
                for reader in names.split(", "):
                    assert reader in readers, f"{path.name} names {reader}, which is no reader"
                    for case, places in says.items():
                        is_case = case == "*" or case in readers[reader]
                        assert is_case, f"{path.name}: {case} is no case of {reader}"
                        self.add(reader, case, places)

    def add(self, reader, case, places):
        known = self.table.setdefault((reader, case), {})
        twice = set(places) & set(known)
        assert not twice, f"it is listed twice what {reader} makes of {case}: {twice}"
        known.update(places)

    def judge(self, reader, case, found):
        """The failures as lines, and the number of allowed differences."""
        always = {place: said for place, said in self.table.get((reader, "*"), {}).items()
                  if place in found}
        self.used |= {(reader, place) for place in always}
        listed = always | self.table.get((reader, case), {})
        failures = []
        for place, (expected, got) in found.items():
            if place in listed and listed[place] == got:
                continue
            known = f"\n    listed    {quoted(listed[place])}" if place in listed else ""
            failures.append(f"{reader}, {case}, {place}:\n    expected  {quoted(expected)}{known}"
                            f"\n    got       {quoted(got)}")
        allowed = len(found) - len(failures)
        for place in listed.keys() - found.keys():
            failures.append(f"{reader}, {case}, {place}: the difference that is listed,"
                            f" {quoted(listed[place])}, is no more; take it off the list")
        return failures, allowed

    def unused(self, reader):
        """The listed differences that never occurred."""
        return [f"{reader}, {place}: the difference that is listed for all forms is in none; take it off"
                for place in self.table.get((reader, "*"), {}) if (reader, place) not in self.used]
