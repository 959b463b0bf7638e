#!/usr/bin/env python3
"""Breaks the code on purpose, one change at a time, and reports which changes no test notices.

usage: Tests/Mutations/run.py [--list] [--check] [--only NAME]... [--random COUNT [--seed SEED]]

mutations.toml lists the changes. Each is made in a copy of the working tree below .build/mutations, which keeps its
own build, so that each change builds incrementally. Only the suites that the list names are run. The exit code is 1
if a mutation is not caught or can't be tried.
"""

import argparse
import dataclasses
import functools
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORK = ROOT / ".build" / "mutations"
TREE = WORK / "tree"
BUILD_SECONDS, TEST_SECONDS = 3600, 900
# It keeps all threads busy, and requests of other tests would exceed their time limits (see .ci/tests).
GRID = r"FormStreamTransferTests\.OutcomeGridTests"


@dataclasses.dataclass(frozen=True)
class Mutation:
    """A change that must make a test fail."""
    name: str
    why: str  # what would be false or unsafe if the change stayed
    file: str
    old: str  # occurs exactly once in the file
    new: str
    tests: str  # a regular expression for `swift test --filter`: a test target, or one suite of it

    def fault(self, root):
        """Why it can't be tried, or None."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} does not exist"
        count = path.read_text().count(self.old)
        if count != 1:
            return f"its old text occurs {count} times in {self.file}"
        if self.new == self.old:
            return "its new text is its old text"
        if not any(re.match(f"({self.tests})", suite) for suite in suites(root)):
            return f"no suite is named {self.tests}"
        return None


@functools.cache
def suites(root):
    """The names of all suites, as `swift test --filter` compares them."""
    found = set()
    for path in root.glob("Tests/*Tests/**/*.swift"):
        target = path.relative_to(root / "Tests").parts[0]
        found |= {f"{target}.{name}/" for name in re.findall(r"\b(?:struct|class|enum) (\w+)", path.read_text())}
    return found


def read_list():
    path = pathlib.Path(__file__).with_name("mutations.toml")
    mutations = [Mutation(**entry) for entry in tomllib.loads(path.read_text())["mutation"]]
    names = [mutation.name for mutation in mutations]
    if len(names) != len(set(names)):
        sys.exit("Two mutations have the same name.")
    return mutations


def copy_tree():
    """Brings the copy up to date. Files that are the same keep their times, so that nothing builds again."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE, check=True).stdout
    wanted = {name for name in os.fsdecode(listed).split("\0") if name and (ROOT / name).is_file()}
    for name in wanted:
        source, copy = ROOT / name, TREE / name
        contents = source.read_bytes()
        if not copy.is_file() or copy.read_bytes() != contents:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(contents)
        copy.chmod(source.stat().st_mode & 0o777)
    for copy in [path for path in TREE.rglob("*") if path.is_file() or path.is_symlink()]:
        name = copy.relative_to(TREE)
        if name.parts[0] != ".build" and str(name) not in wanted:
            copy.unlink()


def swift(log, seconds, *arguments):
    """Runs swift in the copy. Returns its exit code, or None if it did not end in time, and its output."""
    with open(log, "w+") as output:
        child = subprocess.Popen(["swift", *arguments], cwd=TREE, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            code = None
        output.seek(0)
        return code, output.read()


def build(log):
    code, output = swift(log, BUILD_SECONDS, "build", "--build-tests")
    if code == 0:
        return None
    errors = re.findall(r"^.*error: .*$", output, re.MULTILINE)
    return f"it does not build: {errors[0] if errors else f'see {log}'}"


def run_tests(tests, log):
    """The verdict of the suites: passed, failed, or a reason why there is none."""
    verdict = run_selected(tests, log, "--filter", f"^({tests})", "--skip", f"^{GRID}")
    if verdict == "passed" and re.match(tests, GRID.replace("\\", "")):
        verdict = run_selected(tests, log, "--filter", f"^{GRID}")
    return verdict


def run_selected(tests, log, *selection):
    # Tests that wait share threads with tests that block, as .ci/tests says.
    if "CommandLine" not in tests:
        selection += ("--experimental-maximum-parallelization-width", "16")
    code, output = swift(log, TEST_SECONDS, "test", "--skip-build", *selection)
    # A request that nothing ends any more can keep the program from ending after its test has failed.
    if code is None and "recorded an issue" not in output:
        # A test that hangs has to end by a time limit of its suite.
        return f"the tests hang: no suite ended them in {TEST_SECONDS} s"
    counted = re.findall(r"Test run with (\d+) tests?", output)
    if code == 0:
        return "passed" if any(int(count) for count in counted) else f"no test matches {tests}"
    # A trap ends the test program without the count.
    if counted or "recorded an issue" in output or "unexpected signal" in output:
        return "failed"
    return f"the tests did not run: see {log}"


def check_unchanged(mutations):
    """The copy must build, and all suites must pass, before any change."""
    if fault := build(WORK / "unchanged-build.log"):
        sys.exit(f"Without any mutation, {fault}.")
    for number, tests in enumerate(sorted({mutation.tests for mutation in mutations})):
        log = WORK / f"unchanged-{number}.log"
        verdict = run_tests(tests, log)
        if verdict != "passed":
            sys.exit(f"Without any mutation, the suites of {tests} do not pass ({verdict}): see {log}.")


def attempt(mutation):
    """Tries a mutation and undoes it. Returns the verdict and what led to it."""
    if fault := mutation.fault(TREE):
        return "invalid", fault
    path = TREE / mutation.file
    original = path.read_text()
    try:
        path.write_text(original.replace(mutation.old, mutation.new))
        if fault := build(WORK / f"{mutation.name}-build.log"):
            return "invalid", fault
        verdict = run_tests(mutation.tests, WORK / f"{mutation.name}.log")
    finally:
        path.write_text(original)
    if verdict == "failed":
        return "caught", first_failure(WORK / f"{mutation.name}.log")
    return "NOT CAUGHT", mutation.why if verdict == "passed" else verdict


def first_failure(log):
    """The name of a test that failed, or how the program ended."""
    text = log.read_text()
    found = re.search(r'Test ("[^\n]*?"|\S+?)(?: with [^\n]*)? recorded an issue', text) or re.search(
        r"unexpected signal.*", text)
    return (found[1] if found and found.groups() else found[0] if found else "see the log")[:90]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutations and change nothing")
    parser.add_argument("--check", action="store_true",
                        help="only check that each old text occurs exactly once")
    parser.add_argument("--only", action="append", metavar="NAME", help="try this one; may be repeated")
    parser.add_argument("--random", type=int, metavar="COUNT", help="try this many, chosen at random")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000,
                        help="of the choice, which is printed: the same one chooses the same mutations")
    options = parser.parse_args()
    mutations = read_list()
    if unknown := set(options.only or []) - {mutation.name for mutation in mutations}:
        sys.exit(f"There is no mutation {', '.join(sorted(unknown))}. --list prints all.")
    mutations = [one for one in mutations if not options.only or one.name in options.only]
    if options.random is not None:
        print(f"Chosen with --seed {options.seed}.", flush=True)
        count = max(0, min(options.random, len(mutations)))
        mutations = random.Random(options.seed).sample(mutations, count)
        # Mutations of one file are tried in turn, so that less is built.
        mutations.sort(key=lambda mutation: mutation.file)
    if options.list:
        for mutation in mutations:
            print(f"{mutation.name}\n  {mutation.file}, {mutation.tests}\n  {mutation.why}")
        return
    if options.check:
        faults = [f"{one.name}: {fault}" for one in mutations if (fault := one.fault(ROOT))]
        sys.exit("\n".join(faults) or print(f"All {len(mutations)} mutations fit the sources."))

    copy_tree()
    check_unchanged(mutations)
    results = []
    for mutation in mutations:
        begun = time.monotonic()
        verdict, detail = attempt(mutation)
        results.append(verdict)
        print(f"{mutation.name:40} {verdict:10} {time.monotonic() - begun:5.0f} s  {detail}", flush=True)
    caught = results.count("caught")
    print(f"{caught} of {len(results)} mutations were caught.")
    if caught < len(results):
        sys.exit(1)


if __name__ == "__main__":
    main()
