#!/usr/bin/env python3
"""Sends many files by `formstream send`, in all ways and with faults, and checks what the server has.

usage: many-files.py FORMSTREAM [TRIAL...]

Each trial prints its figures and its failures. The run takes half an hour and 15 GB of disk, so it is not part of
`make test`, which has short versions of most trials. Slurm has a program of its own, slurm.py.
"""

import sys

sys.dont_write_bytecode = True
from many_files.changes import changed_during_request, changed_files
from many_files.kills import killed_after_each_line, killed_at_random, killed_in_each_request
from many_files.links import link_races
from many_files.million import early_request, million_files
from many_files.mixes import fault_mixes
from many_files.names import awkward_names
from many_files.nightly import nightly
from many_files.nights import nights
from many_files.nights_in_modes import nights_in_modes
from many_files.overload import overloaded_server
from many_files.rounds import many_rounds
from many_files.shards import large_manifest, schedulers
from trials import main

TRIALS = [awkward_names, nightly, nights, nights_in_modes, many_rounds, early_request, million_files, killed_after_each_line,
          killed_in_each_request, killed_at_random, overloaded_server, changed_files, changed_during_request, link_races, fault_mixes,
          schedulers, large_manifest]

if __name__ == "__main__":
    sys.exit(main(TRIALS))
