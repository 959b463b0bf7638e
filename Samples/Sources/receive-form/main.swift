// Takes one upload, and counts the lines of its files as they come: nothing is stored, or collected.
//
//     receive-form &                     prints where it listens
//     curl -F f=@notes.txt http://127.0.0.1:…/

import Glibc
import FormStreamReceiver

/// What is done with uploads. `DirectoryHandler` and `DiscardHandler` are there already; this is one of your own.
struct CountingHandler: UploadHandler {
  func begin(_ request: UploadRequest) throws -> any Upload {
    // Here is the place to look at headers, and to say no.
    guard request.method == "POST" else {
      throw UploadRefusal(.methodNotAllowed, status: 405, "Only forms are counted: use POST.")
    }
    return Counting()
  }
}

/// One request. It is used by one thread, that of the client's connection.
final class Counting: Upload {
  func begin(_ part: PartDescription) -> any PartSink { LineCount() }

  // All of it came: only now is it certain that the client meant what it sent. Text fields are here, too.
  func end(_ parts: [ReceivedPart]) {}
}

final class LineCount: PartSink {
  private var lines = 0
  // What stands here is told to the client as the part's `stored_as`.
  private(set) var storedAs: String?

  func write(_ bytes: UnsafeRawBufferPointer) {
    // Lent for the call. What takes its time here holds up this client, and nobody else.
    lines += bytes.count { $0 == UInt8(ascii: "\n") }
  }

  func end() { storedAs = "\(lines) lines" }
}

let (requests, continuation) = AsyncStream.makeStream(of: ReceivedRequest.self)
let receiver = try Receiver.start(handler: CountingHandler()) { continuation.yield($0) }
print(receiver.url)
// A pipe would get it only when there is more.
fflush(nil)

for await request in requests {
  for part in request.parts {
    print(part.filename ?? "(text)", part.size, part.storedAs ?? "", separator: "\t")
  }
  print(request.error.map { "refused: \($0.message)" } ?? "The form is whole.")
  if request.isComplete { break }
}
await receiver.stop()
