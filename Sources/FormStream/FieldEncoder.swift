import FormStreamPlatform
import Foundation

/// The fields that were encoded so far.
final class FieldList {
  var fields: [(name: String, text: String)] = []
}

/// Encodes one value, at one name, as fields.
struct FieldEncoder: Encoder {
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private let list: FieldList
  private let nesting: FieldNesting
  /// The name of the value; nil at the top.
  private let name: String?
  /// The prefix of the names of values inside this value; nil if the prefix is `name`. The prefix of a list's element
  /// has the element's index.
  private let nameOfParent: String?
  /// The number of values that this value is nested in, including values without a key.
  private var depth = 0

  init(into list: FieldList, nesting: FieldNesting) {
    (codingPath, self.list, self.nesting) = ([], list, nesting)
    (name, nameOfParent) = (nil, nil)
  }

  private init(_ parent: FieldEncoder, _ key: any CodingKey, name: String?, nameOfParent: String?) {
    codingPath = parent.codingPath + [key]
    (list, nesting) = (parent.list, parent.nesting)
    (self.name, self.nameOfParent, depth) = (name, nameOfParent, parent.depth)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedFields(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedFields(encoder: self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { SingleField(encoder: self) }

  /// The encoder of a property.
  fileprivate func property(_ key: any CodingKey) -> FieldEncoder {
    FieldEncoder(
      self, key, name: nesting.name(key.stringValue, in: nameOfParent ?? name), nameOfParent: nil)
  }

  /// The encoder of an element. Elements have the name of their list. The values inside an element need the index too,
  /// or the values of two elements would have the same names.
  fileprivate func element(_ index: Int) -> FieldEncoder {
    let listName = nameOfParent ?? name
    return FieldEncoder(
      self, FieldKey(index), name: listName, nameOfParent: "\(listName ?? "")[\(index)]")
  }

  /// Throws if a value is nested too deep. Encoding an object that contains itself would never end, even if it uses no
  /// keys.
  ///
  /// All functions that can throw call this function. Functions that make containers and encoders can't throw.
  fileprivate func checkDepth() throws {
    guard codingPath.count <= Form.maximumNesting, depth <= 4 * Form.maximumNesting else {
      throw MultipartError(
        .nestedTooDeep, on: name ?? "",
        "The value of \((name ?? "").quoted) is nested in \(max(depth, codingPath.count)) others: at most "
          + "\(Form.maximumNesting) levels are allowed.")
    }
  }

  /// Encodes a value. Some types are encoded as Foundation's coders encode them, not by their own `encode(to:)`.
  func encodeValue(_ value: some Encodable) throws {
    try checkDepth()
    guard name != nil || codingPath.isEmpty else { throw noName("the list's element") }
    var inside = self
    inside.depth += 1
    switch value {
    case let data as Data: try add(data.base64EncodedString())
    case let url as URL: try add(url.absoluteString)
    case let decimal as Decimal: try add(finite: decimal, isFinite: decimal.isFinite)
    case let collection as any Unordered: try collection.encodeSorted(to: inside)
    case let dictionary as any AnyDictionary where !dictionary.isEmpty: throw unnamed(dictionary)
    default: try value.encode(to: inside)
    }
  }

  fileprivate func add(_ text: String) throws {
    try checkDepth()
    guard let name else { throw noName("the value") }
    list.fields.append((name, text))
  }

  fileprivate func add<Number: LosslessStringConvertible & FloatingPoint>(_ number: Number) throws {
    try add(finite: number, isFinite: number.isFinite)
  }

  /// The error for a dictionary that would be encoded as a list of keys and values, in no order.
  private func unnamed(_ dictionary: any AnyDictionary) -> MultipartError {
    MultipartError(
      .notEncodable, on: name ?? "",
      "The dictionary \((name ?? "").quoted) has keys of type \(dictionary.keyType), which are not names: use text or "
        + "whole numbers as keys, or a type that is CodingKeyRepresentable.")
  }

  private func noName(_ what: String) -> MultipartError {
    MultipartError(
      .notEncodable, on: what,
      "A field needs a name, and \(what) has none: encode a structure, or a dictionary with text as keys."
    )
  }

  private func add(finite number: some CustomStringConvertible, isFinite: Bool) throws {
    guard isFinite else {
      throw MultipartError(
        .notEncodable, on: name ?? "",
        "The number \(number) of field \((name ?? "").quoted) is not finite, and has no common text: leave it "
          + "out, or encode it as text.")
    }
    try add(number.description)
  }
}

/// Collections without an order of their own. If they are not sorted, the same value can be encoded as different bytes
/// in another run.
private protocol Unordered {
  func encodeSorted(to encoder: FieldEncoder) throws
}

/// Dictionaries whose keys are names: text, whole numbers, and other types that are `CodingKeyRepresentable`.
extension Dictionary: Unordered where Key: CodingKeyRepresentable, Value: Encodable {
  fileprivate func encodeSorted(to encoder: FieldEncoder) throws {
    let entries = map { (key: $0.codingKey, value: $1) }
    // The coding key of the text "9" has a number, too.
    let hasNumbers = Key.self != String.self && entries.allSatisfy { $0.key.intValue != nil }
    let sorted = entries.sorted { one, other in
      if hasNumbers, let one = one.key.intValue, let other = other.key.intValue {
        return one < other
      }
      return one.key.stringValue < other.key.stringValue
    }
    for (key, value) in sorted { try encoder.property(key).encodeValue(value) }
  }
}

extension Set: Unordered where Element: Comparable & Encodable {
  fileprivate func encodeSorted(to encoder: FieldEncoder) throws {
    try sorted().encode(to: encoder)
  }
}

private protocol AnyDictionary {
  var isEmpty: Bool { get }
  var keyType: Any.Type { get }
}

extension Dictionary: AnyDictionary {
  fileprivate var keyType: Any.Type { Key.self }
}

private struct FieldKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(_ index: Int) { (stringValue, intValue) = (String(index), index) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}

private struct KeyedFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: FieldEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil(forKey key: Key) throws { try encoder.checkDepth() }
  func encode(_ value: some Encodable, forKey key: Key) throws {
    try encoder.property(key).encodeValue(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder.property(key).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder.property(key).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { encoder.property(FieldKey("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder.property(key) }
}

private struct UnkeyedFields: UnkeyedEncodingContainer {
  let encoder: FieldEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  private(set) var count = 0

  init(encoder: FieldEncoder) {
    self.encoder = encoder
  }

  private mutating func next() -> FieldEncoder {
    defer { count += 1 }
    return encoder.element(count)
  }

  mutating func encodeNil() throws {
    try encoder.checkDepth()
    count += 1
  }
  mutating func encode(_ value: some Encodable) throws { try next().encodeValue(value) }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    next().container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    next().unkeyedContainer()
  }
  mutating func superEncoder() -> any Encoder { next() }
}

private struct SingleField: SingleValueEncodingContainer {
  let encoder: FieldEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  func encodeNil() throws { try encoder.checkDepth() }
  func encode(_ value: Double) throws { try encoder.add(value) }
  func encode(_ value: Float) throws { try encoder.add(value) }
  func encode(_ value: String) throws { try encoder.add(value) }
  func encode(_ value: Bool) throws { try encoder.add(String(value)) }
  func encode(_ value: Int) throws { try encoder.add(String(value)) }
  func encode(_ value: Int8) throws { try encoder.add(String(value)) }
  func encode(_ value: Int16) throws { try encoder.add(String(value)) }
  func encode(_ value: Int32) throws { try encoder.add(String(value)) }
  func encode(_ value: Int64) throws { try encoder.add(String(value)) }
  func encode(_ value: UInt) throws { try encoder.add(String(value)) }
  func encode(_ value: UInt8) throws { try encoder.add(String(value)) }
  func encode(_ value: UInt16) throws { try encoder.add(String(value)) }
  func encode(_ value: UInt32) throws { try encoder.add(String(value)) }
  func encode(_ value: UInt64) throws { try encoder.add(String(value)) }
  func encode(_ value: Int128) throws { try encoder.add(String(value)) }
  func encode(_ value: UInt128) throws { try encoder.add(String(value)) }
  func encode(_ value: some Encodable) throws { try encoder.encodeValue(value) }
}
