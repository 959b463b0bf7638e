// Requests that are blocked by the file that they send, or by the closure that gets their response, and the requests
// beside them. The result is one JSON object on standard output.

import FormStreamTransfer
import Glibc
import Measuring

let usage = """
  usage: bench-blocking cancel URL [FILE]
           how long cancelling takes. FILE is sent, and blocks; without it, the closure for the response never returns
         bench-blocking neighbours DISCARDING-URL ENDLESS-URL NEIGHBOUR FILE...
           how long 50 uploads of NEIGHBOUR take alone and beside a blocked request: one round for each FILE, which blocks

  """

do {
  let arguments = Array(CommandLine.arguments.dropFirst())
  let session = try TransferSession()
  switch (arguments.first, arguments.count) {
  case ("cancel", 2...3):
    let file = arguments.count == 3 ? arguments[2] : nil
    let seconds = try await secondsOfCancelling(on: session, arguments[1], file: file)
    print("{\"seconds\": \(seconds)}")
  case ("neighbours", 5...):
    let neighbours = Neighbours(
      session: session, url: arguments[1], endless: arguments[2], file: arguments[3])
    try await neighbours.measure(beside: Array(arguments[4...]))
  default:
    complain(usage)
    exit(64)
  }
} catch {
  complain("bench-blocking: \(error)\n")
  exit(1)
}
