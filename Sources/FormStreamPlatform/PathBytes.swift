/// A path or a file name as the system takes it: bytes without a NUL.
package protocol PathBytes: Sendable {
  /// The bytes, without a closing NUL.
  var bytes: [UInt8] { get }
}

extension PathBytes {
  /// Whether C can take the path whole. A path with a NUL inside would be cut there, and name another file.
  package var isUsable: Bool { !bytes.contains(0) }

  /// The directory that the path's last component is in: all up to the last slash, else the current one.
  package var directory: FileName {
    let end = bytes.lastIndex(of: UInt8(ascii: "/"))
    return FileName(bytes: end.map { Array(bytes[...$0]) } ?? [UInt8(ascii: ".")])
  }

  /// The path's last component; empty if the path ends in a slash.
  package var name: FileName {
    let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
    return FileName(bytes: slash.map { Array(bytes[($0 + 1)...]) } ?? bytes)
  }

  /// Lends the path to a C function. Callers check ``isUsable`` first.
  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      buffer[bytes.count] = 0
      // There is room for the NUL at least, so there is an address.
      return body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
    }
  }
}

/// A part of a path, or a name that this package makes up.
package struct FileName: PathBytes, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  package init(_ text: String) {
    self.init(bytes: Array(text.utf8))
  }

  /// A name that no other file will have: for a file that is not complete.
  package static func temporary() -> FileName {
    FileName(".formstream-\(String(UInt64.random(in: .min ... .max), radix: 36))")
  }
}
