package import FormStreamPlatform

/// A JSON value. Objects keep the order of their keys, because records promise this order.
///
/// Recursion over a value is safe: our own records nest a few levels, and the reader limits how deep a text may nest.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// A fraction, as a number of millionths. JSON can't express NaN and infinity, and neither can an integer.
  case millionths(Int64)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A key of an object and its value. When JSON is written, no key may occur twice. When JSON is read, a key may occur
  /// twice.
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: JSONValue

    package init(_ key: String, _ value: JSONValue) {
      self.key = key
      self.value = value
    }
  }
}

// MARK: Optional values

extension JSONValue {
  /// The text, or null if there is none.
  package static func string(orNull text: String?) -> JSONValue {
    text.map(JSONValue.string) ?? .null
  }

  /// The number, or null if there is none.
  package static func integer(orNull number: Int64?) -> JSONValue {
    number.map(JSONValue.integer) ?? .null
  }

  /// The number, rounded to an integer.
  ///
  /// RFC 8259 §6: "Numeric values that cannot be represented in the grammar below (such as Infinity and NaN)
  /// are not permitted." They become null, as do numbers that don't fit in 64 bits.
  package static func integer(rounding number: Double?) -> JSONValue {
    number.flatMap { Int64(exactly: $0.rounded()) }.map(JSONValue.integer) ?? .null
  }

  /// The number, rounded to millionths: seconds to microseconds. It becomes null in the same cases as in
  /// ``integer(rounding:)``.
  package static func fraction(rounding number: Double?) -> JSONValue {
    number.flatMap { Int64(exactly: ($0 * 1_000_000).rounded()) }.map(JSONValue.millionths) ?? .null
  }
}

// MARK: Bytes that may not be text

extension JSONValue {
  /// The values of a key and of its `…_b64` key for some bytes: text and null if they are UTF-8, otherwise null and
  /// base 64. Both are null if `bytes` is nil.
  package static func textOrBase64(_ bytes: [UInt8]?) -> (text: JSONValue, base64: JSONValue) {
    guard let bytes else { return (.null, .null) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return (.null, .string(FormStreamPlatform.base64(bytes)))
    }
    return (.string(text), .null)
  }

  /// The values of a key and of its `…_b64` key for a path. The path is always given as text, for people. If it is not
  /// UTF-8, it is also given exactly, in base 64.
  package static func path(_ path: (some PathBytes)?) -> (text: JSONValue, base64: JSONValue) {
    guard let bytes = path?.bytes else { return (.null, .null) }
    return (.string(String(decoding: bytes, as: UTF8.self)), textOrBase64(bytes).base64)
  }
}

// MARK: Values in several records

extension JSONValue {
  /// An error: a code, and a full sentence for people.
  package static func failure(code: String, _ message: String) -> JSONValue {
    ["code": .string(code), "message": .string(message)]
  }

  /// Names and values, as a list of pairs. It keeps the order and repeated names, and an object would not.
  package static func pairs(_ pairs: some Sequence<(String, String)>) -> JSONValue {
    .array(pairs.map { [.string($0), .string($1)] })
  }
}

// MARK: Literals

// With these literals, a record is written like its JSON: `["schema": "…", "complete": true, "error": nil]`.

extension JSONValue: ExpressibleByNilLiteral {
  package init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// The keys keep the order of the literal, because no dictionary is made from it.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0, $1) })
  }
}
