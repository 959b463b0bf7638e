import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform

extension SafePath {
  /// A destination that keeps the directories of a file name.
  static func kept(_ name: String) -> SafePath {
    SafePath(filename: name, field: nil, keepingDirectories: true)
  }
}

extension StorageDirectory {
  /// Makes and stores a file.
  func store(
    _ bytes: some Sequence<UInt8>, as destination: SafePath, replacing: Bool = false
  ) throws -> LocalPath {
    let file = try makeFile()
    try Array(bytes).withUnsafeBytes { try write($0, to: file) }
    return try store(file, as: destination, replacing: replacing)
  }

  /// Stores one file.
  func store(
    _ file: AtomicFile, as destination: SafePath, replacing: Bool = false
  ) throws -> LocalPath {
    try store([(file, destination)], replacing: replacing)[0]
  }

  /// Stores files, with numbers for taken names or replacing what has them.
  func store(
    _ files: [(file: AtomicFile, destination: SafePath)], replacing: Bool
  ) throws(StorageError) -> [LocalPath] {
    try store(files, ifTaken: replacing ? .replace : .addNumber)
  }
}
