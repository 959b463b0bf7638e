import FormStreamMultipart
import FormStreamTestSupport

/// A form that a server received.
struct SentForm {
  /// The parts without a file name, as `name=value`.
  let fields: [String]
  /// The parts with a file name, in order.
  let files: [SentFile]
  /// The names of their fields.
  let fieldNames: [String]

  init(_ request: RecordedRequest) throws {
    let form = try CollectedForm(
      reading: ScriptedSource(request.body),
      with: FormParser(contentType: request.header("Content-Type") ?? ""), limit: 1 << 26)
    fields = form.parts.filter { $0.head.filename == nil }.map {
      "\($0.head.name ?? "")=\($0.text)"
    }
    let parts = form.parts.filter { $0.head.filename != nil }
    files = parts.map {
      SentFile(name: Array(($0.head.filename ?? "").utf8), contents: $0.bytes)
    }
    fieldNames = parts.map { $0.head.name ?? "" }
  }

  /// The names of the files.
  var names: [String] { files.map { String(decoding: $0.name, as: UTF8.self) } }
}

extension ScriptedServer {
  /// The forms that arrived completely.
  func sentForms() throws -> [SentForm] {
    try requests.filter(\.hasCompleteBody).map(SentForm.init)
  }
}

/// The names of the files whose records have a text in them.
func sentNames(_ output: String, with text: String) -> [String] {
  let named = /"path":"(?<path>[^"]*)"/
  return output.split(separator: "\n")
    .filter { $0.contains("formstream.record/2") && $0.contains(text) }
    .compactMap { line in
      line.firstMatch(of: named).map {
        String($0.path.split(separator: "/").last ?? "")
      }
    }
}
