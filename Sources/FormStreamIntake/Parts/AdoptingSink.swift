package import FormStreamPlatform

/// A sink that can take over a file that already has all bytes of the part, instead of the bytes.
package protocol AdoptingSink: PartSink {
  /// Takes over a complete file in place of all bytes of the part. No bytes have been written to the sink.
  ///
  /// - Returns: false if the sink can't take the file over. Then the file is unchanged, and the bytes must be written.
  func adopt(_ file: PartialFile) throws -> Bool
}

extension StoredPart: AdoptingSink {
  package func adopt(_ file: PartialFile) throws -> Bool {
    guard let adopted = try directory.adopt(file) else { return false }
    self.file = adopted
    return true
  }
}
