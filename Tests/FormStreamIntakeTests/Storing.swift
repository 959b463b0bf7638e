import FormStreamMultipart
import FormStreamIntake

extension SafePath {
  /// A file name as it was sent, with its directories.
  static func kept(_ name: String) -> SafePath {
    SafePath(filename: name, field: nil, keepingDirectories: true)
  }
}

extension StorageDirectory {
  /// Stores a whole file.
  func store(
    _ bytes: some Sequence<UInt8>, as place: SafePath, replacing: Bool = false
  ) throws -> LocalPath {
    let file = try makeFile()
    try Array(bytes).withUnsafeBytes { try file.write($0) }
    return try file.store(as: place, replacing: replacing)
  }
}
