import FormStreamMultipart

/// A user and a password. Flags and files write them as `USER:PASS`.
struct UserAndPassword {
  let user: String
  let password: String

  /// - Parameter origin: where the bytes come from, for messages.
  init(_ bytes: [UInt8], _ origin: String) throws(Failure) {
    let words = try Self.words(bytes, origin)
    guard words.count == 2 else {
      throw .usage("\(origin) has no colon in it: write USER:PASS.")
    }
    self.init(user: words[0], password: words[1])
  }

  /// Asks for the password on a terminal if `bytes` has none. If nothing is sent, the password is empty.
  ///
  /// - Parameters:
  ///   - origin: where the bytes come from, for messages.
  ///   - owner: the server or proxy that the password is for, in words.
  init(
    _ bytes: [UInt8], _ origin: String, askingFor owner: String, _ input: InputReader
  ) throws(Failure) {
    let words = try Self.words(bytes, origin)
    guard words.count == 1, !words[0].isEmpty else {
      try self.init(bytes, origin)
      return
    }
    let password =
      input.readsStandardInput ? try typedPassword(of: words[0], for: owner, origin) : ""
    self.init(user: words[0], password: password)
  }

  private init(user: String, password: String) {
    (self.user, self.password) = (user, password)
  }

  private static func words(_ bytes: [UInt8], _ origin: String) throws(Failure) -> [String] {
    guard let text = String(validating: bytes, as: UTF8.self), HTTPSyntax.isFieldValue(text.utf8)
    else {
      throw .usage("\(origin) has a control character in it, or is not UTF-8: write USER:PASS.")
    }
    return text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      .map(String.init)
  }
}
