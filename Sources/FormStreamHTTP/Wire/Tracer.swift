import FormStreamPlatform
import FormStreamMultipart

/// Reports the traffic to the caller's trace hook, with secrets masked.
final class Tracer: Sendable {
  private let report: @Sendable (TransferTrace) -> Void
  private let tag: (any Sendable)?
  /// The names of the headers that the request declares secret.
  private let secretNames: Guarded<Set<String>>

  init(_ request: TransferRequest, report: @escaping @Sendable (TransferTrace) -> Void) {
    (self.report, tag) = (report, request.tag)
    secretNames = Guarded(request.headers.secretNames)
  }

  /// Masks the headers that the caller of the request declares secret later.
  func hide(_ headers: HTTPHeaders) {
    secretNames.withLock { $0.formUnion(headers.secretNames) }
  }

  /// - Parameter isURLSecret: whether the whole URL is secret.
  func requestHead(_ text: String, isURLSecret: Bool) {
    let lines = text.replacing("\r\n", with: "\n").split(separator: "\n")
    let shown = [requestLine(lines.first ?? "", isURLSecret)] + lines.dropFirst().map(header)
    report(TransferTrace(kind: .requestHead, text: shown.joined(separator: "\n"), tag: tag))
  }

  /// RFC 9112 §3: request-line = method SP request-target SP HTTP-version
  private func requestLine(_ line: Substring, _ isURLSecret: Bool) -> String {
    guard isURLSecret else { return String(line).hidingURLSecrets }
    let words = line.split(separator: " ")
    return "\(words.first ?? "") /*** \(words.last ?? "")"
  }

  private func header(_ line: Substring) -> String {
    guard let colon = line.firstIndex(of: ":") else { return String(line) }
    let name = line[..<colon]
    let isSecret = secretNames.withLock { $0.contains(name.lowercased()) } || SecretNames.contains(name.utf8)
    return isSecret ? "\(name): ***" : String(line).hidingURLSecrets
  }

  func responseHead(_ text: String) {
    report(TransferTrace(kind: .responseHead, text: text, tag: tag))
  }

  func note(_ text: String) {
    report(TransferTrace(kind: .note, text: text, tag: tag))
  }

  /// Reports how many bytes of bodies were sent and received.
  ///
  /// - Parameters:
  ///   - sent: nil if the request has no body.
  ///   - received: nil if there is no response.
  func bodies(sent: Int64?, received: Int64?) {
    if let sent { note("\(counted(sent, "byte", "bytes")) of the request's body sent") }
    if let received {
      note("\(counted(received, "byte", "bytes")) of the response's body received")
    }
  }

  /// Reports which connection a request uses.
  func connection(to url: HTTPURL, _ connection: Connection) {
    let host = url.origin.host
    guard connection.requestCount == 1 else { return note("Re-using existing connection with host \(host)") }
    let remote = connection.ends.remote.map { " (\($0.address)) port \($0.port)" } ?? ""
    note("Connected to \(host)\(remote)")
  }

  /// Reports libcurl's lines about connections. Other lines may contain secrets.
  func libraryNote(_ text: String) {
    let shown = ["Connected to ", "Re-using existing connection", "SSL connection using ", "ALPN"]
    let line = String(text.trimmingSuffix { $0.isWhitespace })
    if shown.contains(where: line.hasPrefix) { note(line) }
  }
}

extension HTTPHeaders {
  fileprivate var secretNames: Set<String> { Set(fields.filter(\.isSecret).map { $0.name.lowercased() }) }
}

extension String {
  fileprivate func trimmingSuffix(while isUnwanted: (Character) -> Bool) -> Substring {
    var rest = self[...]
    while let last = rest.last, isUnwanted(last) { rest.removeLast() }
    return rest
  }
}
