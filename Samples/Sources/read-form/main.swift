// Parses a form from a file, as a server does from a connection, and lists its parts:
//
//     read-form "multipart/form-data; boundary=B" body
//
// The bytes of a part are counted and not stored, so its size does not matter.

import FormStream
import Foundation

guard CommandLine.arguments.count == 3,
  let body = InputStream(fileAtPath: CommandLine.arguments[2])
else {
  FileHandle.standardError.write(Data("usage: read-form CONTENT-TYPE BODY\n".utf8))
  exit(64)
}

do {
  // Limits protect against hostile senders. There are defaults for all of them.
  var options = FormParser.Options()
  options.limits.parts = 1_000
  let parser = try FormParser(contentType: CommandLine.arguments[1], options: options)

  var size = 0
  try parser.parse(body) { event in
    switch event {
    case .partBegan(let head):
      size = 0
      // The file name is chosen by the sender: show it, but never open it as a path.
      print(head.name ?? "", head.filename ?? "(no file)", separator: "\t", terminator: "\t")
    case .partBytes(let bytes):
      // The bytes are valid until the next event: write them to a file, or hash them.
      size += bytes.count
    case .partEnded:
      print(size)
    case .formEnded:
      // Only now the form is complete.
      print("The form is complete.")
    }
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
