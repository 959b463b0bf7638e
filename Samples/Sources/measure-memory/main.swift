// Uploads a file as a form, and measures the memory of this process meanwhile, 50 times a second:
//
//     measure-memory film.mp4 http://127.0.0.1:8080/
//
// It prints a record as `formstream bench --json` does, in whose samples the bytes that were handed over come last:
// seconds, bytes in memory, bytes that were allocated, bytes of the body.

import FormStreamTransfer
import Foundation

/// What /proc says about this process, in bytes.
func memory(_ name: String) -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
  return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

guard CommandLine.arguments.count == 3 else {
  print("usage: measure-memory FILE URL")
  exit(64)
}
let (path, url) = (CommandLine.arguments[1], CommandLine.arguments[2])

do {
  let form = Form { Part.file("file", LocalPath(path), type: .octetStream) }
  let session = try TransferSession()
  let start = ContinuousClock.now
  let task = session.start(try TransferRequest(.post, url, body: .form(form)))

  let sampling = Task {
    var samples: [[Double]] = []
    while !Task.isCancelled {
      let seconds = start.duration(to: .now) / .seconds(1)
      let handedOver = task.progress.current.handedOver
      samples.append([seconds, Double(memory("VmRSS")), Double(memory("RssAnon")), Double(handedOver)])
      try? await Task.sleep(for: .milliseconds(20))
    }
    return samples
  }
  let result = await task.result
  let seconds = start.duration(to: .now) / .seconds(1)
  sampling.cancel()
  let samples = await sampling.value
  guard result.outcome == .ok else { throw result.error ?? CocoaError(.fileReadUnknown) }

  let unknown = NSNull()
  let run: [String: Any] = [
    "seconds": seconds, "processor_seconds": unknown, "peak": memory("VmHWM"),
    "anonymous": samples.map { Int($0[2]) }.max() ?? 0,
  ]
  let size: [String: Any] = [
    "size": result.bytesSent, "first": unknown, "runs": [run], "ratio": unknown, "samples": samples,
  ]
  let program: [String: Any] = [
    "name": "measure-memory", "command": CommandLine.arguments, "error": unknown, "missing": false, "sizes": [size],
    "peak_per_gib": unknown, "anonymous_per_gib": unknown,
  ]
  let record: [String: Any] = [
    "schema": "formstream.bench/1", "url": url, "own_receiver": false, "count": 1, "rounds": 1,
    "programs": [program], "notes": [],
  ]
  let line = try JSONSerialization.data(withJSONObject: record, options: [.sortedKeys, .withoutEscapingSlashes])
  print(String(decoding: line, as: UTF8.self))
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
