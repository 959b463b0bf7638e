import FormStreamPlatform

/// The members of a JSON object, one after another, without a value made of each: their places in the text.
///
/// It reads what ``JSONValue/line()`` writes: an object without white space. It checks how the members are put together,
/// but neither numbers nor escapes.
package struct JSONMembers {
  /// A member.
  package struct Member {
    /// The key as it is written, without quotation marks.
    package let key: UnsafeRawBufferPointer
    /// The value as it is written.
    package let value: UnsafeRawBufferPointer

    /// The text of a string that has no escapes; nil for any other value.
    package var text: UnsafeRawBufferPointer? {
      guard value.count >= 2, value[0] == UInt8(ascii: "\"") else { return nil }
      let text = UnsafeRawBufferPointer(rebasing: value[1..<value.count - 1])
      return text.contains(UInt8(ascii: "\\")) ? nil : text
    }

    /// The number, if the value is an integer.
    package var number: Int64? { Int64(String(decoding: value, as: UTF8.self)) }

    /// Whether this is the member of that key, and its value is that text.
    package func hasText(_ text: String, for key: StaticString) -> Bool {
      self.key.spells(key) && (self.text?.elementsEqual(text.utf8) ?? false)
    }
  }

  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  /// Whether the object ended where its text ends. False as long as `next` returns members.
  package private(set) var isComplete = false

  package init(of object: UnsafeRawBufferPointer) {
    bytes = object
  }

  /// The next member; nil at the end, and if what follows is not a member.
  package mutating func next() -> Member? {
    guard index < bytes.count else { return nil }
    if index > 0, bytes[index] == UInt8(ascii: "}") { return end(isComplete: index == bytes.count - 1) }
    let key = index + 1
    guard bytes[index] == UInt8(ascii: index == 0 ? "{" : ","),
      let keyEnd = endOfString(at: key), keyEnd < bytes.count, bytes[keyEnd] == UInt8(ascii: ":"),
      let valueEnd = endOfValue(at: keyEnd + 1)
    else { return end(isComplete: index == 0 && bytes.spells("{}")) }
    index = valueEnd
    return Member(
      key: UnsafeRawBufferPointer(rebasing: bytes[key + 1..<keyEnd - 1]),
      value: UnsafeRawBufferPointer(rebasing: bytes[keyEnd + 1..<valueEnd]))
  }

  private mutating func end(isComplete: Bool) -> Member? {
    self.isComplete = isComplete
    index = bytes.count
    return nil
  }

  /// Where the value that begins at an index ends; nil if there is none.
  private func endOfValue(at start: Int) -> Int? {
    guard start < bytes.count else { return nil }
    switch bytes[start] {
    case UInt8(ascii: "\""): return endOfString(at: start)
    case UInt8(ascii: "{"), UInt8(ascii: "["): return endOfList(at: start)
    default:
      var end = start
      while end < bytes.count, bytes[end].isOfNumberOrWord { end += 1 }
      return end > start ? end : nil
    }
  }

  /// Where a string ends, after its second quotation mark; nil if there is no string.
  private func endOfString(at start: Int) -> Int? {
    guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
    var end = start + 1
    while end < bytes.count {
      switch bytes[end] {
      case UInt8(ascii: "\""): return end + 1
      case UInt8(ascii: "\\"): end += 2
      case 0..<0x20: return nil
      default: end += 1
      }
    }
    return nil
  }

  /// Where an object or an array ends; nil if it doesn't.
  private func endOfList(at start: Int) -> Int? {
    var depth = 0
    var end = start
    while end < bytes.count {
      switch bytes[end] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        end += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        end += 1
        if depth == 0 { return end }
      case UInt8(ascii: "\""):
        guard let next = endOfString(at: end) else { return nil }
        end = next
      case 0..<0x20: return nil
      default: end += 1
      }
    }
    return nil
  }
}

extension UInt8 {
  fileprivate var isOfNumberOrWord: Bool {
    isASCIILetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "+")
      || self == UInt8(ascii: ".")
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these are the bytes of a text.
  package func spells(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in indices where self[index] != text.utf8Start[index] { return false }
    return true
  }
}
