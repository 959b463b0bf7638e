import FormStreamMultipart
import Foundation

/// Reports the traffic to the caller's trace hook, with secrets masked.
final class Tracer: Sendable {
  private let report: @Sendable (TransferTrace) -> Void
  /// The names of the headers that the request declares secret.
  private let secretNames: Set<String>

  init(_ request: TransferRequest, report: @escaping @Sendable (TransferTrace) -> Void) {
    self.report = report
    secretNames = Set(request.headers.fields.filter(\.isSecret).map { $0.name.lowercased() })
  }

  func requestHead(_ text: String) {
    let lines = text.replacing("\r\n", with: "\n").split(separator: "\n").map { line in
      guard let colon = line.firstIndex(of: ":") else { return String(line) }
      let name = line[..<colon]
      let isSecret =
        secretNames.contains(name.lowercased()) || HTTPHeaders.isSecret(String(name))
      return isSecret ? "\(name): ***" : String(line)
    }
    report(TransferTrace(kind: .requestHead, text: lines.joined(separator: "\n")))
  }

  func responseHead(_ text: String) {
    report(TransferTrace(kind: .responseHead, text: text))
  }

  func note(_ text: String) {
    report(TransferTrace(kind: .note, text: text))
  }

  /// Reports those of libcurl's lines that describe connections: others may contain secrets.
  func libraryNote(_ text: String) {
    let shown = ["Connected to ", "Re-using existing connection", "SSL connection using ", "ALPN"]
    let line = String(text.trimmingSuffix { $0.isWhitespace })
    if shown.contains(where: line.hasPrefix) { note(line) }
  }
}

extension String {
  fileprivate func trimmingSuffix(while isUnwanted: (Character) -> Bool) -> Substring {
    var rest = self[...]
    while let last = rest.last, isUnwanted(last) { rest.removeLast() }
    return rest
  }
}
