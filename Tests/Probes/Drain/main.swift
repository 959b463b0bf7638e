// Reads a form of files through FormInputStream. Tests observe it with strace:
//
//   formstream-drain-probe chunk=N end|close-early|drop-early|error FILE…
//
// Prints how many descriptors are open in addition to those at the start, and how many bytes were
// read. "Early" is after the first byte of the last file, which is open then; `error` truncates
// that file there. The stream is still alive when descriptors are counted, except for `drop-early`.
//
//   formstream-drain-probe chunk=0 session=PORT FILE…
//
// sends the form with a URLSession to that port of the loopback address instead, and counts only
// the descriptors of the files, because the session opens some too.
import FormStream
import Foundation
import FoundationNetworking
import Glibc

func openDescriptors() -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
}

func descriptorsOpen(on files: [String]) -> Int {
  let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return all.count { number in
    let goal = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    return goal.map(files.contains) ?? false
  }
}

func sendWithSession(to port: String, files: [String]) async throws -> (left: Int, bytes: Int) {
  let layout = try Form { for file in files { Part.file("file", LocalPath(file)) } }.layout()
  guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return (-1, -1) }
  var request = URLRequest(url: url)
  request.httpMethod = "POST"
  request.setValue(layout.contentType, forHTTPHeaderField: "Content-Type")
  let stream = FormInputStream(layout)
  request.httpBodyStream = stream
  _ = try await URLSession.shared.data(for: request)
  return (descriptorsOpen(on: files), Int(stream.position))
}

func probe(chunk: Int, mode: String, files: [String]) throws -> (left: Int, bytes: Int) {
  let form = Form {
    Part.text("title", "a text before the files")
    for file in files { Part.file("file", LocalPath(file)) }
  }
  let layout = try form.layout()
  let early = layout.placedPart(at: files.count).bodyOffset ?? 0
  let before = openDescriptors()
  var stream: FormInputStream? = FormInputStream(layout)
  stream?.open()
  var buffer = [UInt8](repeating: 0, count: chunk)
  var bytes = 0
  var hasBeenCut = false
  while let current = stream, current.hasBytesAvailable {
    if mode != "end", current.position > early, !hasBeenCut {
      hasBeenCut = true
      if mode == "close-early" { current.close() }
      if mode == "drop-early" { stream = nil }
      if mode == "error", let last = files.last { truncate(last, 1) }
      if mode != "error" { break }
    }
    let count = current.read(&buffer, maxLength: chunk)
    if count <= 0 { break }
    bytes += count
  }
  return withExtendedLifetime(stream) { (openDescriptors() - before, bytes) }
}

let arguments = CommandLine.arguments.dropFirst()
guard let first = arguments.first, first.hasPrefix("chunk="), let chunk = Int(first.dropFirst(6)),
  arguments.count >= 3
else {
  fatalError("usage: formstream-drain-probe chunk=N end|close-early|drop-early|error FILE…")
}
let files = Array(arguments.dropFirst(2))
let mode = arguments[2]
let (left, bytes) =
  mode.hasPrefix("session=")
  ? try await sendWithSession(to: String(mode.dropFirst(8)), files: files)
  : try probe(chunk: chunk, mode: mode, files: files)
print("descriptors left: \(left)")
print("bytes read: \(bytes)")
