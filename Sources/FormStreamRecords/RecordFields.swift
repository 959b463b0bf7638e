package import FormStreamMultipart

// The values that several records share.

/// An error in a record: `{"code":…,"message":…}`.
package struct RecordFailure: Hashable, Sendable {
  /// The error's code, such as `source-changed`.
  package var code: String
  /// A full sentence for people.
  package var message: String

  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  package init(_ error: MultipartError) {
    self.init(code: error.code.rawValue, message: error.description)
  }

  package var json: JSONValue { ["code": .string(code), "message": .string(message)] }
}

/// A header line in a record: `[name,value]`. A list of these keeps order and repetition, which an object would
/// lose.
package struct RecordHeader: Hashable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  package var json: JSONValue { [.string(name), .string(value)] }
}
