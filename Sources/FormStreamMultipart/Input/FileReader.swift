import FormStreamPlatform

/// Reads a range of a file, and checks that the file is still the file that was laid out. The file is checked when it is
/// opened, and after each read, before the bytes are returned.
final class FileReader: SegmentReader {
  private let extent: FileExtent
  private let part: String
  /// The open file; it is closed when its last reader is released.
  let file: OpenedFile
  private var position: Int64
  private let end: Int64
  /// The hash of the bytes that were read. It shows whether the bytes have changed since the form was laid out. Nil unless the
  /// file's growth is ``FileGrowth/compared``.
  private var compared: ComparedBytes?
  /// What the system reads ahead of a file by itself.
  private static let sizeReadAhead: Int64 = 128 * 1024

  /// - Parameter opened: the file, if it is already open.
  init(
    _ extent: FileExtent, part: String, skipping skipped: Int64 = 0, opened: OpenedFile? = nil
  ) throws(MultipartError) {
    self.extent = extent
    self.part = part
    position = extent.offset + skipped
    end = extent.offset + extent.length
    if extent.growing?.growth == .compared { compared = ComparedBytes() }
    do {
      if let opened {
        file = opened
      } else {
        file = try extent.open()
      }
    } catch
      where error.isPathMissing || error.isSymlinkRefused || error.leadsOut
      || error.isNotOpenable
    {
      throw Self.changed(.replaced, extent, part)
    } catch {
      throw MultipartError(
        .inputUnreadable, on: extent.path.description,
        "The file \(extent.path.description.quoted)\(ofPart(part)) can't be opened: \(error).",
        file: extent.path, underlying: error)
    }
    try checkIdentity()
    try checkEmpty()
    if extent.length > Self.sizeReadAhead { file.descriptor.expectSequentialReads() }
    if compared != nil, skipped > 0 { try compareSkipped(skipped) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(MultipartError) -> Int {
    try read(into: buffer, mayWait: true) ?? 0
  }

  func readAtOnce(
    into buffer: UnsafeMutableRawBufferPointer
  ) throws(MultipartError) -> Int? {
    // Reading from memory never waits. Old kernels can't report whether a read would wait.
    try read(into: buffer, mayWait: extent.storage == .memory)
  }

  private func read(
    into buffer: UnsafeMutableRawBufferPointer, mayWait: Bool
  ) throws(MultipartError) -> Int? {
    let wanted = Int(min(Int64(buffer.count), end - position))
    guard wanted > 0 else { return 0 }
    let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    let count: Int
    do {
      if mayWait {
        count = try file.descriptor.read(into: room, at: position)
      } else {
        guard let cached = try file.descriptor.readCached(into: room, at: position) else {
          return nil
        }
        count = cached
      }
    } catch {
      throw readFailed(error)
    }
    try checkIdentity()
    // The size is unchanged, but there is nothing to read: files that the kernel generates do this.
    if count == 0 {
      throw generated(
        "a size of \(extent.identity.size), and ends after \(counted(position, "byte", "bytes"))",
        .shrunk)
    }
    position += Int64(count)
    try compare(UnsafeRawBufferPointer(rebasing: room[..<count]))
    return count
  }

  /// Throws before the last bytes are handed over, if any bytes have changed since the form was laid out.
  private func compare(_ bytes: UnsafeRawBufferPointer) throws(MultipartError) {
    compared?.add(bytes)
    guard position == end, let hash = extent.hash, compared?.hash != hash else { return }
    throw Self.changed(.rewritten, extent, part)
  }

  /// Reads the skipped bytes, because they are part of the hash.
  private func compareSkipped(_ count: Int64) throws(MultipartError) {
    let target = position
    position -= count
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    defer { buffer.deallocate() }
    while position < target {
      let room = buffer.prefix(Int(min(target - position, Int64(buffer.count))))
      _ = try read(into: UnsafeMutableRawBufferPointer(rebasing: room))
    }
  }

  private func checkIdentity() throws(MultipartError) {
    if let growing = extent.growing { return try check(growing) }
    let status: FileStatus
    do {
      status = try file.descriptor.status()
    } catch {
      throw readFailed(error)
    }
    if let change = extent.identity.change(seenIn: status) {
      throw Self.changed(change, extent, part, size: status.identity.size)
    }
  }

  private func check(_ growing: GrowingFile) throws(MultipartError) {
    let found: (change: SourceChange, oldSize: Int64, size: Int64)?
    do {
      found = try growing.change(in: file)
    } catch {
      throw readFailed(error)
    }
    guard let found else { return }
    throw Self.changed(found.change, extent, part, size: found.size, oldSize: found.oldSize)
  }

  /// Files under `/proc` have a size of 0 and still have contents. Without this check, they would be sent as empty
  /// files.
  private func checkEmpty() throws(MultipartError) {
    guard extent.identity.size == 0 else { return }
    var probe: UInt8 = 0
    let count: Int
    do {
      count = try withUnsafeMutableBytes(of: &probe) { (byte) throws(SystemError) in
        try file.descriptor.read(into: byte, at: 0)
      }
    } catch {
      throw readFailed(error)
    }
    guard count > 0 else { return }
    if let growing = extent.growing {
      // The file may have grown since the last check.
      try check(growing)
      if growing.size > 0 { return }
    }
    throw generated("a size of 0 and still has contents", .grown)
  }

  /// The error for a file whose size is not the size of its contents.
  private func generated(_ what: String, _ change: SourceChange) -> MultipartError {
    MultipartError(
      .sourceChanged, on: extent.path.description,
      "The file \(extent.path.description.quoted)\(ofPart(part)) has \(what), like files that the kernel generates: "
        + "send it through a pipe.", file: extent.path, change: change)
  }

  private func readFailed(_ error: SystemError) -> MultipartError {
    MultipartError(
      .readFailed, on: extent.path.description,
      "Reading the file \(extent.path.description.quoted)\(ofPart(part)) failed at byte "
        + "\(position): \(error).", file: extent.path, underlying: error)
  }

  private static func changed(
    _ change: SourceChange, _ extent: FileExtent, _ part: String, size: Int64? = nil,
    oldSize: Int64? = nil
  ) -> MultipartError {
    let oldSize = oldSize ?? extent.identity.size
    let explanation =
      switch change {
      case .shrunk: "it shrank from \(oldSize) to \(counted(size ?? 0, "byte", "bytes"))"
      case .grown: "it grew from \(oldSize) to \(counted(size ?? oldSize, "byte", "bytes"))"
      case .replaced: "it was replaced by another file, or removed"
      default: "it was written to, or its attributes were changed"
      }
    return MultipartError(
      .sourceChanged, on: extent.path.description,
      "The file \(extent.path.description.quoted)\(ofPart(part)) has changed since the body was laid "
        + "out: \(explanation). Send it again when nothing writes to it.", file: extent.path,
      change: change)
  }
}

extension FileReader {
  /// The first bytes of the range.
  func firstBytes(upTo limit: Int) throws(MultipartError) -> [UInt8] {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit, alignment: 16)
    defer { buffer.deallocate() }
    var count = 0
    while count < limit {
      let more = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      if more == 0 { break }
      count += more
    }
    return Array(buffer[..<count])
  }

  /// The hash of the bytes that were read so far; nil unless the file's growth is ``FileGrowth/compared``.
  var hash: Int? { compared?.hash }

  /// Reads the complete range and searches it for the delimiters of `scans`. Returns the boundary
  /// that was found.
  func scan(with scans: inout [CollisionScan]) throws(MultipartError) -> Boundary? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      let count = try read(into: buffer)
      if count == 0 { return nil }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      for index in scans.indices where scans[index].finds(in: bytes) {
        return scans[index].boundary
      }
    }
  }
}
