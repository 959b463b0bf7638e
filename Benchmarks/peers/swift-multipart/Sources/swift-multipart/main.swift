// One measurement per process. The results are one JSON object on standard output.

import Glibc

let usage = """
  usage: swift-multipart parse LIBRARY FILE BOUNDARY            a body in memory, in chunks of 64 KiB
         swift-multipart encode LIBRARY file FILE BOUNDARY      a form of a file in memory
         swift-multipart encode LIBRARY chunks FILE BOUNDARY    the same, passed on in chunks of 64 KiB
         swift-multipart encode LIBRARY texts COUNT BOUNDARY    a form of small texts
  LIBRARY is formstream, openapi or multipart-kit.

  """

func library(_ name: String) -> (any Library.Type)? {
  switch name {
  case "formstream": FormStreamLibrary.self
  case "openapi": OpenAPILibrary.self
  case "multipart-kit": MultipartKitLibrary.self
  default: nil
  }
}

func fields(_ kind: String, _ operand: String) throws -> Fields? {
  switch kind {
  case "file": .file(try bytes(of: operand))
  case "chunks": .chunks(Chunks(bytes: try bytes(of: operand)))
  case "texts": .texts((0..<(Int(operand) ?? 0)).map { ("field-\($0)", "0123456789") })
  default: nil
  }
}

/// Runs a command, and returns whether there is such a command.
func run(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 4, let library = library(arguments[1]) else { return false }
  switch (arguments[0], arguments.count) {
  case ("parse", 4): try await measureParsing(library, arguments[2], boundary: arguments[3])
  case ("encode", 5):
    guard let fields = try fields(arguments[2], arguments[3]) else { return false }
    try await measureEncoding(library, fields, boundary: arguments[4])
  default: return false
  }
  return true
}

do {
  // On no actor: the main actor would have to wait for another thread at each suspension.
  let isKnown = try await Task.detached { try await run(Array(CommandLine.arguments.dropFirst())) }.value
  if !isKnown {
    complain(usage)
    exit(64)
  }
} catch {
  complain("swift-multipart: \(error)\n")
  exit(1)
}
