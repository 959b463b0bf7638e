// Posts files as a form, shows how far it is, and says what became of it:
//
//     post-form https://example.org/upload photo.jpg

import FormStream
import Foundation
import FormStreamTransfer

func say(_ line: String) {
  FileHandle.standardError.write(Data((line + "\n").utf8))
}

let arguments = CommandLine.arguments.dropFirst()
guard let url = arguments.first, arguments.count > 1 else {
  say("usage: post-form URL FILE...")
  exit(64)
}

let form = Form {
  Part.text("title", "From the sample")
  for path in arguments.dropFirst() { Part.file("file", path: path) }
}

do {
  var request = try TransferRequest(.post, url, body: .form(form))
  // What is tried again is only what can't have been carried out.
  request.options.retry = RetryPolicy(attempts: 3)

  let session = try TransferSession()
  let result = await session.result(of: request) { progress in
    // There is no fraction where a part is a pipe. It is 1 only once the last byte was handed over.
    if let fraction = progress.fraction { say("\(Int(fraction * 100)) %") }
  }

  // `ok` means: the server said so, to exactly the bytes that were on disk. `unknown` means what it says,
  // and somebody should look before the same is sent again.
  say("\(result.outcome.rawValue), after \(result.bytesSent) bytes")
  if let error = result.error { say("\(error)") }
  if let response = result.response { print(response.text) }
  exit(result.outcome == .ok ? 0 : 1)
} catch {
  say("\(error)")
  exit(64)
}
