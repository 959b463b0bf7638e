/// A path or a file name as the system calls expect it: bytes.
package protocol PathBytes: Sendable {
  /// The bytes, without the terminating NUL.
  var bytes: [UInt8] { get }
}

extension PathBytes {
  /// Whether the path contains no NUL. C would cut the path at the NUL, so the path would name another file.
  package var isUsable: Bool { !bytes.contains(0) }

  /// The directory of the path's last component: everything up to the last slash, or the current
  /// directory.
  package var directory: FileName {
    let end = bytes.lastIndex(of: UInt8(ascii: "/"))
    return FileName(bytes: end.map { Array(bytes[...$0]) } ?? [UInt8(ascii: ".")])
  }

  /// The path's last component; empty if the path ends in a slash.
  package var name: FileName {
    let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
    return FileName(bytes: slash.map { Array(bytes[($0 + 1)...]) } ?? bytes)
  }

  /// Calls `body` with the path as a C string. Check ``isUsable`` first.
  package func withCString<Result>(
    _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    let bytes = bytes
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
      buffer[bytes.count] = 0
      // There is room at least for the NUL, so the address is not nil.
      return body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
    }
  }
}

/// One component of a path, or its first components.
package struct FileName: PathBytes, Hashable {
  /// The bytes, without the terminating NUL.
  package let bytes: [UInt8]

  /// Wraps the bytes of a name.
  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Wraps the UTF-8 bytes of a text.
  package init(_ text: String) {
    self.init(bytes: Array(text.utf8))
  }

  /// A random name for a file that is not complete yet: two numbers of 64 bits, each of 13 digits.
  package static func temporary() -> FileName {
    let digits = (0..<2).map { _ in
      let number = String(UInt64.random(in: .min ... .max), radix: 36)
      return String(repeating: "0", count: temporaryDigits - number.utf8.count) + number
    }
    return FileName(temporaryPrefix + digits.joined())
  }

  /// Linux allows names of 255 bytes.
  private static let maximumLength = 255
  /// The greatest length of an extension, with its dot. Longer text after the last dot is not an extension.
  static let maximumExtension = 16

  /// The name with a number before its extension if the number is above 1: `photo.jpg`, `photo-2.jpg`.
  package func numbered(_ number: Int) -> FileName {
    guard number > 1 else { return self }
    let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
    // A name whose only dot comes first belongs to a hidden file, and has no extension.
    let isExtension = dot > 0 && bytes.count - dot <= Self.maximumExtension
    let end = isExtension ? bytes[dot...] : []
    return FileName(bytes: Array(bytes.dropLast(end.count))).appending(
      Array("-\(number)".utf8) + end)
  }

  /// The name followed by text. The name is cut if the result would be too long.
  package func appending(_ end: [UInt8]) -> FileName {
    var start = bytes[...].prefix(max(Self.maximumLength - end.count, 0))
    // The cut is not in the middle of a character: continuation bytes of UTF-8 are 10xxxxxx.
    if start.count < bytes.count {
      while bytes[start.endIndex] & 0xC0 == 0x80, !start.isEmpty { start.removeLast() }
    }
    return FileName(bytes: start + end)
  }

  /// Whether the name has exactly the form and the length of the names that ``temporary()`` makes. Files with such
  /// names are removed, so names that people choose, such as `.formstream-token`, must not have this form.
  package var isTemporary: Bool {
    let prefix = Self.temporaryPrefix.utf8
    guard bytes.count == prefix.count + 2 * Self.temporaryDigits, bytes.starts(with: prefix) else {
      return false
    }
    let digits = bytes.dropFirst(prefix.count)
    return digits.allSatisfy { $0.isASCIILetterOrDigit && $0 == $0.asciiLowercased }
      && [digits.prefix(Self.temporaryDigits), digits.suffix(Self.temporaryDigits)].allSatisfy {
        UInt64(String(decoding: $0, as: UTF8.self), radix: 36) != nil
      }
  }

  private static let temporaryPrefix = ".formstream-"
  /// The number of digits of the largest 64-bit number in base 36.
  private static let temporaryDigits = 13
}
