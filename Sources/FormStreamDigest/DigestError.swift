/// Why a digest could not be made, and what to do about it.
package struct DigestError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure. The set is open.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in records.
    package let rawValue: String

    /// Takes a code by its text.
    package init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// libcrypto could not compute a digest.
    package static let digestFailed = Code(rawValue: "digest-failed")
  }

  /// The kind of failure.
  package let code: Code
  /// The thing that the failure is about.
  package let subject: String
  /// A full sentence, and the remedy.
  package let description: String

  init(_ code: Code, on subject: String, _ description: String) {
    self.code = code
    self.subject = subject
    self.description = description
  }
}
