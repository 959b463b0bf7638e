import FormStreamDigest
import FormStreamMultipart
import FormStreamPlatform

/// The parts of servers that have asked for credentials, and how credentials are sent there, so that later requests send them
/// at once.
///
/// RFC 7617 §2.2 and RFC 7616 §3.3 define these parts. For Basic, a part has all paths below the directory of the requested
/// path. For Digest, it has the paths of `domain`, or the complete server.
final class ProtectionSpaces: Sendable {
  private enum Answer {
    case secret(AnsweredScheme)
    case digest(DigestChallenge)
  }

  private struct Space {
    let credentials: Credentials
    var answer: Answer
    /// The beginnings of the paths that belong to the space.
    let prefixes: [String]

    /// Compares bytes, not characters: a slash and a combining mark after it are one character.
    func contains(_ path: String) -> Bool {
      prefixes.contains { path.utf8.starts(with: $0.utf8) }
    }
  }

  /// What is known of an origin.
  private struct Known {
    /// The space that was remembered last comes first.
    var spaces: [Space] = []
    /// How many requests have been sent with each nonce. The nonce that was used last comes first.
    ///
    /// Several requests may get the same challenge before any of them answers it, so the counts outlive the challenges. RFC
    /// 7616 §3.4: servers refuse a count that they have already seen with the nonce.
    private var counts: [(nonce: String, count: UInt32)] = []

    /// Counts one more request with a nonce.
    mutating func nextCount(of nonce: String) -> UInt32 {
      let index = counts.firstIndex { $0.nonce == nonce }
      // No server keeps a nonce until the count overflows.
      let count = (index.map { counts.remove(at: $0).count } ?? 0) &+ 1
      counts.insert((nonce, count), at: 0)
      if counts.count > ProtectionSpaces.maximumNonces { counts.removeLast() }
      return count
    }
  }

  private static let maximumOrigins = 1024
  private static let maximumSpaces = 16
  private static let maximumNonces = 64
  private let origins = Guarded<[HTTPURL.Origin: Known]>([:])

  /// Remembers that a server asks for the secret itself, not for a digest of it.
  func remember(_ scheme: AnsweredScheme, for credentials: Credentials, at url: HTTPURL) {
    let path = url.target.utf8.prefix { $0 != UInt8(ascii: "?") }
    let directory = path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
    remember(
      Space(
        credentials: credentials, answer: .secret(scheme),
        prefixes: [String(Substring(directory))]),
      at: url.origin)
  }

  /// Remembers a challenge of Digest.
  func remember(_ challenge: DigestChallenge, for credentials: Credentials, at url: HTTPURL) {
    // A challenge can't apply to another origin: credentials are sent there only if that origin asks for them.
    let named = challenge.domain.compactMap { try? url.resolving($0) }
      .filter { $0.origin == url.origin }.map(\.target)
    let isElsewhere = !named.contains { url.target.utf8.starts(with: $0.utf8) }
    remember(
      Space(
        credentials: credentials, answer: .digest(challenge), prefixes: isElsewhere ? ["/"] : named),
      at: url.origin)
  }

  private func remember(_ space: Space, at origin: HTTPURL.Origin) {
    origins.withLock { all in
      if all[origin] == nil, all.count >= Self.maximumOrigins { all = [:] }
      var known = all[origin] ?? Known()
      known.spaces.removeAll {
        $0.credentials == space.credentials && $0.prefixes == space.prefixes
      }
      known.spaces.insert(space, at: 0)
      known.spaces = Array(known.spaces.prefix(Self.maximumSpaces))
      all[origin] = known
    }
  }

  /// Uses the nonce that a server names for the next request (RFC 7616 §3.5).
  func replaceNonce(of challenge: DigestChallenge, with nonce: String, at origin: HTTPURL.Origin) {
    origins.withLock { all in
      guard
        let index = all[origin]?.spaces.firstIndex(where: {
          if case .digest(challenge) = $0.answer { true } else { false }
        })
      else { return }
      var next = challenge
      next.nonce = nonce
      all[origin]?.spaces[index].answer = .digest(next)
    }
  }

  /// The authorization of a request. It has a header if it is known how the server wants the credentials.
  func authorization(
    _ credentials: Credentials?, _ method: HTTPMethod, _ url: HTTPURL
  ) throws(TransferError) -> Authorization {
    var result = Authorization(credentials: credentials)
    guard let credentials else { return result }
    try credentials.check()
    switch credentials.kind {
    case .basic where !credentials.waitsForChallenge: try result.send(credentials, as: .basic)
    case .bearer where !credentials.waitsForChallenge: try result.send(credentials, as: .bearer)
    default:
      guard let (answer, count) = next(credentials, url) else { break }
      switch answer {
      case .secret(let scheme): try result.send(credentials, as: scheme)
      case .digest(let challenge):
        let header: String
        do throws(DigestError) {
          header = try challenge.authorization(
            user: credentials.user, password: credentials.secret, method: method.description,
            target: url.target, count: count, clientNonce: Self.nonce())
        } catch {
          throw .digestFailed(error)
        }
        result.header = Hidden(header)
        (result.scheme, result.challenge) = ("Digest", challenge)
      }
    }
    return result
  }

  /// How credentials are sent to a URL, and for Digest the count of the nonce; nil if it is not known how they are sent.
  private func next(_ credentials: Credentials, _ url: HTTPURL) -> (Answer, count: UInt32)? {
    origins.withLock { all in
      guard
        let answer = all[url.origin]?.spaces.first(where: {
          $0.credentials == credentials && $0.contains(url.target)
        })?.answer
      else { return nil }
      guard case .digest(let challenge) = answer else { return (answer, 0) }
      return (answer, all[url.origin]?.nextCount(of: challenge.nonce) ?? 1)
    }
  }

  private static func nonce() -> String {
    (0..<2).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    .joined()
  }
}

extension Authorization {
  fileprivate mutating func send(
    _ credentials: Credentials, as scheme: AnsweredScheme
  ) throws(TransferError) {
    if scheme == .basic { try credentials.checkOfBasic() }
    header = Hidden(credentials.header(scheme))
    self.scheme = scheme == .basic ? "Basic" : "Bearer"
  }
}

extension Credentials {
  /// - Throws: `invalidHeader` if the credentials can't be written in a header.
  func check() throws(TransferError) {
    if kind == .bearer, !HTTPSyntax.isFieldValue(secret.utf8) {
      throw .controlCharacterInToken
    }
    if kind == .digest || kind == .strongestOffered, !HTTPSyntax.isFieldValue(user.utf8) {
      throw .controlCharacterInUser
    }
    if kind == .basic { try checkOfBasic() }
  }

  /// RFC 7617 §2: "a user-id containing a colon character is invalid, as the first colon in a user-pass string separates
  /// user-id and password from one another".
  fileprivate func checkOfBasic() throws(TransferError) {
    if user.utf8.contains(UInt8(ascii: ":")) { throw .colonInUser }
  }
}

extension HTTPURL {
  /// The path and the query, as they stand in the request line.
  var target: String {
    // After "http://" or "https://".
    let rest = absoluteString.utf8.dropFirst(origin.scheme.utf8.count + 3)
    let target = rest.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard let first = target.first else { return "/" }
    return (first == UInt8(ascii: "?") ? "/" : "")
      + Substring(target.prefix { $0 != UInt8(ascii: "#") })
  }
}
