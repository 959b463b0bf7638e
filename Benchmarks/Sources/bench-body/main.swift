// One measurement per process: `run` starts this program again for each, so that no measurement finds
// memory that another one left. The results are one JSON object on standard output.

import FormStream
import Glibc
import Measuring

let usage = """
  usage: bench-body drain FILE BUFFER ROUNDS     FormInputStream against read(2), alternating
         bench-body stream FILE BUFFER           FormInputStream alone, for watching its memory
         bench-body text-parts COUNT             a form of short texts, laid out
         bench-body eager-text-parts COUNT       the same as one array of bytes
         bench-body file-parts COUNT DIRECTORY   a form of the files DIRECTORY/0, DIRECTORY/1, …
         bench-body eager-file-parts COUNT DIRECTORY

  """

do {
  let arguments = CommandLine.arguments.dropFirst()
  let numbers = arguments.map { Int($0) ?? 0 }
  switch (arguments.first, arguments.count) {
  case ("drain", 4):
    try compareDraining(of: arguments[2], buffer: numbers[2], rounds: numbers[3])
  case ("stream", 3):
    try streamOnce(arguments[2], buffer: numbers[2])
  case ("text-parts", 2):
    try measureLayout(parts: numbers[1]) { .text("field-\($0)", "value number \($0)") }
  case ("eager-text-parts", 2):
    try measureEager(parts: numbers[1]) { number, body in
      body.append(contentsOf: "name=\"field-\(number)\"\r\n\r\nvalue number \(number)".utf8)
    }
  case ("file-parts", 3):
    let directory = arguments[3]
    try measureLayout(parts: numbers[1]) { .file("field-\($0)", LocalPath("\(directory)/\($0)")) }
  case ("eager-file-parts", 3):
    let directory = arguments[3]
    try measureEager(parts: numbers[1]) { number, body in
      body.append(contentsOf: "name=\"field-\(number)\"; filename=\"\(number)\"\r\n".utf8)
      body.append(contentsOf: "Content-Type: application/octet-stream\r\n\r\n".utf8)
      body.append(contentsOf: try bytes(of: "\(directory)/\(number)"))
    }
  default:
    complain(usage)
    exit(64)
  }
} catch {
  complain("bench-body: \(error)\n")
  exit(1)
}
