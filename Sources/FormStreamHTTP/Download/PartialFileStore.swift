import FormStreamPlatform

/// The partial files that a download may have in its directory, each with a record beside it.
struct PartialFileStore: Sendable {
  /// How many names of partial files are tried.
  private static let maximumCount = 1000

  let url: HTTPURL
  let names: DownloadName
  let directory: DirectoryDescriptor

  /// Takes a file that an earlier download has left, if the file isn't in use, and if it is of this URL. A file that another
  /// program has stored under such a name is left alone.
  ///
  /// - Parameter preferred: the name that is checked first.
  func takeLeft(_ preferred: FileName?) throws -> (PartialFile, PartialFileRecord)? {
    if let preferred, let taken = try take(preferred) { return taken }
    for name in names.partials(Self.maximumCount) {
      guard try directory.identity(of: name) != nil else { return nil }
      if let taken = try take(name) { return taken }
    }
    return nil
  }

  /// Takes the file of a name, as `takeLeft`.
  func take(_ name: FileName) throws -> (PartialFile, PartialFileRecord)? {
    guard let file = try left(name), var record = record(of: name), try record.describes(file)
    else { return nil }
    if record.left != nil {
      // The record is written before the first change, so that the file is recognized if this process is killed.
      record.left = nil
      try write(record, of: name)
    }
    return (file, record)
  }

  /// Opens a file that was left; nil if it can't be opened. A file that another program has stored under such a name, and runs from,
  /// is no reason to fail: the download takes another name.
  private func left(_ name: FileName) throws -> PartialFile? {
    do throws(SystemError) {
      return try PartialFile(leftAs: name, in: directory)
    } catch  where !error.isOutOfDescriptors {
      return nil
    }
  }

  /// Makes an empty file, with its record.
  func make(
    _ describe: (PartialFile.Identity) throws -> PartialFileRecord
  ) throws -> (PartialFile, PartialFileRecord) {
    for name in names.partials(Self.maximumCount) {
      // If another process uses the file, its record must not be replaced.
      guard try directory.identity(of: name) == nil, try mayHaveRecord(name) else { continue }
      var record: PartialFileRecord?
      var file: PartialFile?
      // Without its file, the record is of no use.
      defer {
        if file == nil, let record { removeRecord(of: name) { $0.isOfSameFile(as: record) } }
      }
      file = try PartialFile(creating: name, in: directory) { identity in
        let description = try describe(identity)
        try write(description, of: name)
        record = description
      }
      if let file, let record {
        do {
          try restore(record, of: file)
        } catch {
          file.remove()
          throw error
        }
        return (file, record)
      }
    }
    throw SystemError.alreadyExists
  }

  /// Writes the record of a new file again if it is no longer there. Another download that was about to make a file of this name
  /// may have replaced the record, and then removed its own.
  func restore(_ record: PartialFileRecord, of file: PartialFile) throws {
    guard self.record(of: file.name)?.isOfSameFile(as: record) != true else { return }
    try write(record, of: file.name)
  }

  /// Whether the name of a partial file's record is free, or is taken by a record that was left. Other files must not be
  /// replaced.
  private func mayHaveRecord(_ name: FileName) throws(SystemError) -> Bool {
    guard try directory.identity(of: DownloadName.record(of: name)) != nil else { return true }
    return recordBytes(of: name).map(PartialFileRecord.isRecord) ?? false
  }

  private func record(of name: FileName) -> PartialFileRecord? {
    recordBytes(of: name).flatMap { PartialFileRecord($0, of: url) }
  }

  private func recordBytes(of name: FileName) -> [UInt8]? {
    try? directory.ownContents(
      of: DownloadName.record(of: name), upTo: PartialFileRecord.maximumSize)
  }

  func write(
    _ record: PartialFileRecord, of name: FileName, isSynchronized: Bool = false
  ) throws {
    let copy = try AtomicFile(in: directory, permissions: 0o600)
    try record.bytes.withUnsafeBytes { try copy.write($0) }
    guard try copy.commit(as: DownloadName.record(of: name), isSynchronized: isSynchronized) else {
      throw SystemError.isADirectory
    }
  }

  /// Removes the record of a file, so that the file is not continued.
  func removeRecord(of file: PartialFile) {
    removeRecord(of: file.name) { (try? $0.isOf(file)) == true }
  }

  /// Removes the record of a partial file's name, if `isMeant` accepts the record: another process may have made a file and a
  /// record with these names by now. If that happens between the two calls, that process writes its record again (`restore`).
  /// The record is not moved away and checked there: the other process would miss it at its end, and it would stay.
  private func removeRecord(of name: FileName, if isMeant: (PartialFileRecord) -> Bool) {
    guard let record = record(of: name), isMeant(record) else { return }
    directory.remove(DownloadName.record(of: name))
  }

  /// Removes a file and its record.
  func remove(_ file: PartialFile) {
    file.remove()
    removeRecord(of: file)
  }
}
