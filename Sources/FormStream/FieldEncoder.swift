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
  /// The name of a structure or list at this place, if it is another: that of an element has an index.
  private let nameOfParent: String?
  /// How many values this one is in, those without a key included.
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

  /// The encoder of an element. Elements have the name of their list. What is in an element needs the index
  /// too, or the values of two elements could not be told apart.
  fileprivate func element(_ index: Int) -> FieldEncoder {
    let listName = nameOfParent ?? name
    return FieldEncoder(
      self, FieldKey(index), name: listName, nameOfParent: "\(listName ?? "")[\(index)]")
  }

  /// Encodes a value, also one that the coders of Foundation treat in their own way.
  func encodeValue(_ value: some Encodable) throws {
    // An object that contains itself would never end, also if it uses no keys.
    guard codingPath.count <= Form.maximumNesting, depth <= 4 * Form.maximumNesting else {
      throw MultipartError(
        .nestedTooDeep, on: name ?? "",
        "The value of \((name ?? "").quoted) is nested in \(depth) others: at most "
          + "\(Form.maximumNesting) levels are allowed.")
    }
    guard name != nil || codingPath.isEmpty else { throw noName("the list's element") }
    var inside = self
    inside.depth += 1
    switch value {
    case let data as Data: try add(data.base64EncodedString())
    case let url as URL: try add(url.absoluteString)
    case let decimal as Decimal: try add(finite: decimal, isFinite: decimal.isFinite)
    case let dictionary as any SortedByKey: try dictionary.encodeSorted(to: inside)
    default: try value.encode(to: inside)
    }
  }

  fileprivate func add(_ text: String) throws {
    guard let name else { throw noName("the value") }
    list.fields.append((name, text))
  }

  fileprivate func add<Number: LosslessStringConvertible & FloatingPoint>(_ number: Number) throws {
    try add(finite: number, isFinite: number.isFinite)
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

/// Dictionaries with text as keys. They have no order of their own, so the same value could have other bytes in
/// another run.
private protocol SortedByKey {
  func encodeSorted(to encoder: FieldEncoder) throws
}

extension Dictionary: SortedByKey where Key == String, Value: Encodable {
  fileprivate func encodeSorted(to encoder: FieldEncoder) throws {
    for (key, value) in sorted(by: { $0.key < $1.key }) {
      try encoder.property(FieldKey(key)).encodeValue(value)
    }
  }
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

  func encodeNil(forKey key: Key) {}
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

  mutating func encodeNil() { count += 1 }
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

  func encodeNil() {}
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
