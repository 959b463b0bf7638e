package import FormStreamMultipart

/// An error as it stands in records: `{"code":…,"message":…}`.
package struct RecordFailure: Hashable, Sendable {
  /// The error's code, such as `source-changed`.
  package var code: String
  /// A full sentence for people.
  package var message: String

  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  /// An error of the library, in its own words.
  package init(_ error: MultipartError) {
    self.init(code: error.code.rawValue, message: error.description)
  }

  package var json: JSONValue { ["code": .string(code), "message": .string(message)] }
}
