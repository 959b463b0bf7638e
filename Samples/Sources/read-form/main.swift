// Reads a form from a file, as a server would from a connection, and says what is in it:
//
//     read-form "multipart/form-data; boundary=B" body
//
// Nothing is collected: a part's bytes are counted as they pass, so its size does not matter.

import FormStream
import Foundation

guard CommandLine.arguments.count == 3,
  let body = InputStream(fileAtPath: CommandLine.arguments[2])
else {
  FileHandle.standardError.write(Data("usage: read-form CONTENT-TYPE BODY\n".utf8))
  exit(64)
}

do {
  // Limits keep a hostile sender in bounds; these are in place unless you change them.
  var options = FormParser.Options()
  options.limits.parts = 1_000
  let parser = try FormParser(contentType: CommandLine.arguments[1], options: options)

  var size = 0
  try parser.parse(body) { event in
    switch event {
    case .partBegan(let head):
      size = 0
      // What a sender calls a file is a label, never a path: show it, but don't open it.
      print(head.name ?? "", head.filename ?? "(no file)", separator: "\t", terminator: "\t")
    case .partBytes(let bytes):
      // Lent until the next event: write them somewhere, or hash them.
      size += bytes.count
    case .partEnded:
      print(size)
    case .formEnded:
      // Only now is it known that the form came whole.
      print("The form is whole.")
    }
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
