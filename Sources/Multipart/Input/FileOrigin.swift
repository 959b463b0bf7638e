/// What a path turns out to be when the form is laid out.
enum FileFinding {
  case extent(FileExtent)
  case stream(StreamOrigin)
}

extension FileOrigin {
  /// Looks at the path, without opening it.
  func lookUp(for part: String) throws(MultipartError) -> FileFinding {
    let status = try look(part)
    switch status.kind {
    case .regular:
      return .extent(try extent(of: status, part: part))
    case .pipe, .device:
      guard provenance.streamsSpecialFiles else { throw notAFile(part, "is a FIFO or a device") }
      guard range == nil else {
        throw notAFile(part, "is a FIFO or a device, of which no range can be taken")
      }
      return .stream(
        StreamOrigin(length: nil, replay: .once) { [path] in
          try DescriptorSource(opening: path)
        })
    case .directory:
      throw notAFile(part, "is a directory")
    case .symlink:
      throw notAFile(part, "is a symbolic link, and links found in a directory are not followed")
    case .socket:
      throw notAFile(part, "is a socket")
    }
  }

  private func look(_ part: String) throws(MultipartError) -> FileStatus {
    guard path.isUsable else {
      throw MultipartError(
        .inputMissing, on: path.description,
        "\(subject(part)) has a NUL in its name, which no file has.")
    }
    do {
      let status = try FileStatus(settling: path, followsSymlinks: provenance.followsSymlinks)
      if status.kind != .symlink { try checkReadable(path) }
      return status
    } catch  where error.isNotFound {
      throw MultipartError(
        .inputMissing, on: path.description,
        "\(subject(part)) is not there: check the path.", underlying: error)
    } catch {
      throw MultipartError(
        .inputUnreadable, on: path.description,
        "\(subject(part)) can't be read: \(error). Check its permissions.", underlying: error)
    }
  }

  private func extent(
    of status: FileStatus, part: String
  ) throws(MultipartError) -> FileExtent {
    let size = status.identity.size
    let offset = range?.offset ?? 0
    let length = range?.length ?? (size - min(max(offset, 0), size))
    guard offset >= 0, length >= 0, offset <= size, length <= size - offset else {
      let end = range?.length.map { "\($0) bytes" } ?? "all"
      throw MultipartError(
        .rangeOutsideFile, on: path.description,
        "\(subject(part)) has \(size) bytes, so \(end) from byte \(offset) on can't be taken: choose a "
          + "range within it.")
    }
    return FileExtent(
      path: path, followsSymlinks: provenance.followsSymlinks, identity: status.identity,
      offset: offset, length: length)
  }

  private func subject(_ part: String) -> String {
    "The file \(path.description.quoted) of part \(part.quoted)"
  }

  private func notAFile(_ part: String, _ what: String) -> MultipartError {
    MultipartError(
      .notAFile, on: path.description, "\(subject(part)) \(what): name a regular file.")
  }
}
