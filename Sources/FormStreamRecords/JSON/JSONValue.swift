import FormStreamPlatform

/// A JSON value whose objects keep their keys in the order given: records promise one.
///
/// Values are made by our record types, which decide how deep they nest; nothing here is made from
/// JSON that came from outside, so walking it by recursion is safe.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// A fraction, in millionths: an integer inside, so that there is no NaN and no infinity to write.
  case millionths(Int64)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A key of an object, and what stands behind it. That no key stands twice is its author's business.
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: JSONValue

    package init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }
}

extension JSONValue {
  /// The text, or null where there is none.
  package static func string(orNull text: String?) -> JSONValue {
    text.map(JSONValue.string) ?? .null
  }

  /// The number, or null where there is none.
  package static func integer(orNull number: Int64?) -> JSONValue {
    number.map(JSONValue.integer) ?? .null
  }

  /// Bytes as the two values of a key and of its `…_b64`: text where they are UTF-8, else base 64, and the
  /// other null; both null where there are no bytes to speak of.
  static func textOrBase64(_ bytes: [UInt8]?) -> (text: JSONValue, base64: JSONValue) {
    guard let bytes else { return (.null, .null) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return (.null, .string(FormStreamPlatform.base64(bytes)))
    }
    return (.string(text), .null)
  }
}
