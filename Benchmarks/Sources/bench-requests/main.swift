// Sends many requests. `run` measures the process: its time, its processor time and its memory.

import FormStream
import FormStreamTransfer
import Glibc
import Measuring

let usage = """
  usage: bench-requests post LIST URL ENGINES CONCURRENT   the files that LIST names, at most CONCURRENT at once
         bench-requests together COUNT FILE URL            FILE that many times, all at once
         bench-requests waiting COUNT URL                  COUNT bodies of one byte, eight at once, the others wait

  """

/// Posts a file as a form, and fails unless the server confirms it.
func post(_ path: String, to url: HTTPURL, over session: TransferSession) async throws {
  var form = Form()
  form.append(.file("f", LocalPath(path), type: .octetStream))
  _ = try await session.send(TransferRequest(.post, url, body: .form(form)))
}

/// Does the work of all numbers below `count`, at most `limit` at once.
func forEach(
  below count: Int, limit: Int, _ work: @escaping @Sendable (Int) async throws -> Void
) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for number in 0..<count {
      if number >= limit { try await group.next() }
      group.addTask { try await work(number) }
    }
    try await group.waitForAll()
  }
}

do {
  let arguments = CommandLine.arguments.dropFirst()
  var configuration = TransferSession.Configuration()
  // What is sent at once is said on the command line.
  configuration.maximumConnectionsPerHost = nil
  switch (arguments.first, arguments.count) {
  case ("post", 5):
    let paths = try lines(of: arguments[2])
    let url = try HTTPURL(arguments[3])
    configuration.engines = Int(arguments[4]) ?? 1
    let session = try TransferSession(configuration)
    try await forEach(below: paths.count, limit: Int(arguments[5]) ?? 1) { number in
      try await post(paths[number], to: url, over: session)
    }
  case ("together", 4):
    let (count, path) = (Int(arguments[2]) ?? 0, arguments[3])
    let url = try HTTPURL(arguments[4])
    let session = try TransferSession(configuration)
    try await forEach(below: count, limit: count) { _ in
      try await post(path, to: url, over: session)
    }
  case ("waiting", 3):
    let request = try TransferRequest(.put, HTTPURL(arguments[3]), body: .bytes([1]))
    let requests = (0..<(Int(arguments[2]) ?? 0)).lazy.map { _ in request }
    for await (_, result) in try TransferSession(configuration).results(of: requests, limit: 8) {
      guard result.outcome == .ok else { throw Failure("\(result.outcome)") }
    }
  default:
    complain(usage)
    exit(64)
  }
} catch {
  complain("bench-requests: \(error)\n")
  exit(1)
}
