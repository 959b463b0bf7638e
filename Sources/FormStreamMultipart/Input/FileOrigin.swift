import FormStreamPlatform

/// The result of looking up a path or descriptor while the form is laid out.
enum FileLookup {
  case extent(FileExtent)
  /// The status shows whether two parts read the same FIFO.
  case stream(StreamOrigin, FileStatus)
}

extension FileOrigin {
  /// Reads the status of the path. Does not open it.
  func lookUp(for part: String) throws(MultipartError) -> FileLookup {
    let status = try settledStatus(part)
    switch status.kind {
    case .regular:
      return .extent(try extent(of: status, part: part))
    case .pipe, .device:
      guard accepted.streamsSpecialFiles else { throw notAFile(part, "is a FIFO or a device") }
      guard range == nil else {
        throw notAFile(part, "is a FIFO or a device, which has no ranges")
      }
      let stream = StreamOrigin(length: nil, singleUse: singleUse) { [path] in
        try DescriptorSource(opening: path)
      }
      return .stream(stream, status)
    case .directory:
      throw notAFile(part, "is a directory")
    case .symlink:
      throw notAFile(part, "is a symbolic link, and links found in a directory are not followed")
    case .socket:
      throw notAFile(part, "is a socket")
    }
  }

  private func settledStatus(_ part: String) throws(MultipartError) -> FileStatus {
    guard path.isUsable else {
      throw MultipartError(
        .inputMissing, on: path.description,
        "\(subject(part)) has a NUL in its path: no file can have one.")
    }
    let settled: FileStatus?
    do {
      let follows = accepted.followsSymlinks
      var status = try FileStatus(settling: path, followsSymlinks: follows)
      // A file that may grow may be written to all the time, so its status is then read without
      // waiting.
      if status == nil, growth != .refused {
        status = try FileStatus(of: path, followsSymlinks: follows)
      }
      settled = status
      if let settled, settled.kind != .symlink { try checkReadable(path) }
    } catch  where error.isPathMissing {
      throw MultipartError(
        .inputMissing, on: path.description,
        "\(subject(part)) does not exist: check the path.", underlying: error)
    } catch {
      throw MultipartError(
        .inputUnreadable, on: path.description,
        "\(subject(part)) can't be read: \(error). Check its permissions.", underlying: error)
    }
    guard let settled else {
      throw MultipartError(
        .sourceChanged, on: path.description,
        "\(subject(part)) is being written to all the time: send it when nothing writes to it.",
        change: .rewritten)
    }
    return settled
  }

  private func extent(
    of status: FileStatus, part: String
  ) throws(MultipartError) -> FileExtent {
    let device = status.identity.device
    let storage = KnownDisks.contains(device) ? .disk : FileStorage(of: path)
    KnownDisks.note(device, storage)
    var extent = try FileExtent(
      of: path, status.identity, range, followsSymlinks: accepted.followsSymlinks,
      storage: storage, part: part)
    if growth != .refused { extent.growing = GrowingFile(growth, seen: extent.identity) }
    return extent
  }

  private func subject(_ part: String) -> String { path.subject(part) }

  private func notAFile(_ part: String, _ what: String) -> MultipartError {
    MultipartError(
      .notAFile, on: path.description, "\(subject(part)) \(what): name a regular file.")
  }
}

extension LocalPath {
  fileprivate func subject(_ part: String) -> String {
    "The file \(description.quoted)\(ofPart(part))"
  }
}

extension FileExtent {
  /// A range of a file with this identity; the complete file if the range is nil.
  init(
    of path: LocalPath, _ identity: FileIdentity, _ range: FileRange?, followsSymlinks: Bool,
    storage: FileStorage, part: String
  ) throws(MultipartError) {
    let size = identity.size
    let offset = range?.offset ?? 0
    let length = range?.length ?? (size - min(max(offset, 0), size))
    guard offset >= 0, length >= 0, offset <= size, length <= size - offset else {
      let end = range?.length.map { counted($0, "byte", "bytes") } ?? "all"
      throw MultipartError(
        .rangeOutsideFile, on: path.description,
        "\(path.subject(part)) has \(counted(size, "byte", "bytes")), so \(end) from byte \(offset) on can't be read: choose a range "
          + "within it.")
    }
    self.init(
      path: path, followsSymlinks: followsSymlinks, identity: identity, offset: offset,
      length: length, storage: storage)
  }
}

extension DescriptorOrigin {
  /// Reads the status of the descriptor.
  func lookUp(for part: String) throws(MultipartError) -> FileLookup {
    let stream = StreamOrigin(length: length, singleUse: singleUse) { [number] in
      try DescriptorSource(duplicating: number)
    }
    do {
      return .stream(stream, try FileStatus(ofDescriptor: number))
    } catch {
      throw MultipartError(
        .inputUnreadable, on: "descriptor \(number)",
        "Descriptor \(number)\(ofPart(part)) can't be read: \(error). Open it first.",
        underlying: error)
    }
  }
}
