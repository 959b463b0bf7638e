/// A failure to compute a digest: what failed and what to do about it.
package struct DigestError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records.
    package let rawValue: String

    /// Wraps the text of a code.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// libcrypto could not compute a digest.
    package static let digestFailed = Code(rawValue: "digest-failed")
  }

  /// The kind of failure.
  package let code: Code
  /// What the failure is about.
  package let subject: String
  /// A sentence that says what failed and what to do.
  package let description: String

  init(_ code: Code, on subject: String, _ description: String) {
    self.code = code
    self.subject = subject
    self.description = description
  }
}
