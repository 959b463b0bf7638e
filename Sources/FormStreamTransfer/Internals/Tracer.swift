import Foundation

/// Tells whoever looks on what goes over the wire, with secrets masked.
final class Tracer: Sendable {
  private let tell: @Sendable (TransferTrace) -> Void
  /// Names of headers that are secrets in this request.
  private let secretNames: Set<String>

  init(_ request: TransferRequest, tell: @escaping @Sendable (TransferTrace) -> Void) {
    self.tell = tell
    secretNames = Set(request.headers.fields.filter(\.isSecret).map { $0.name.lowercased() })
  }

  func requestHead(_ text: String) {
    let lines = text.replacing("\r\n", with: "\n").split(separator: "\n").map { line in
      guard let colon = line.firstIndex(of: ":") else { return String(line) }
      let name = line[..<colon]
      let isSecret =
        secretNames.contains(name.lowercased()) || HeaderText.isSecret(String(name))
      return isSecret ? "\(name): ***" : String(line)
    }
    tell(TransferTrace(kind: .requestHead, text: lines.joined(separator: "\n")))
  }

  func responseHead(_ text: String) {
    tell(TransferTrace(kind: .responseHead, text: text))
  }

  func note(_ text: String) {
    tell(TransferTrace(kind: .note, text: text))
  }

  /// Of what libcurl says, what tells of connections: other lines may hold what is nobody's business.
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

  /// A URL as it may be shown, though it is none: what may be a user and a password in it is masked.
  var hidingCredentials: String {
    let scheme = prefix { $0 != "/" }
    // What begins with one slash is a path.
    if scheme.isEmpty, !hasPrefix("//") { return self }
    var rest = self[...]
    if scheme.isEmpty || scheme.hasSuffix(":") {
      rest = self[scheme.endIndex...].drop { $0 == "/" }
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard let at = authority.lastIndex(of: "@") else { return self }
    return self[..<rest.startIndex] + "***" + self[at...]
  }
}
