// One measurement per process, as in bench-body. The results are one JSON object on standard output.

import Glibc
import Measuring

let usage = """
  usage: bench-parse file FILE BOUNDARY PIECE    a body in memory, in pieces of PIECE bytes; 0: in one piece
         bench-parse linear MIB ROUNDS           bodies made to be slow, of 1 MiB up to so many
         bench-parse events PARTS ROUNDS         small parts by hand, and as events on no actor and on the main one

  """

do {
  let arguments = CommandLine.arguments.dropFirst()
  let numbers = arguments.map { Int($0) ?? 0 }
  switch (arguments.first, arguments.count) {
  case ("file", 4):
    try measureFile(arguments[2], boundary: arguments[3], piece: numbers[3])
  case ("linear", 3):
    try measureWorst(upTo: numbers[1] << 20, rounds: numbers[2])
  case ("events", 3):
    try await measureEvents(parts: numbers[1], rounds: numbers[2])
  default:
    complain(usage)
    exit(64)
  }
} catch {
  complain("bench-parse: \(error)\n")
  exit(1)
}
