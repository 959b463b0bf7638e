import FormStreamPlatform

/// The disks of this machine on which files were found, by device number.
///
/// Finding out what a file is stored on may take arbitrarily long: another machine or another program may have to
/// answer. After a device is known to be a disk, files on it can be looked up on any thread.
enum KnownDisks {
  private static let devices = Guarded<[UInt64]>([])

  /// Remembers a device if its files are stored on a disk.
  static func note(_ device: UInt64, _ storage: FileStorage) {
    guard storage == .disk, mayBeKnown(device) else { return }
    devices.withLock { if !$0.contains(device) { $0.append(device) } }
  }

  /// Whether a device can be recognized by its number. The system reuses numbers without a major part for any file
  /// system that is mounted next, even a network file system.
  static func mayBeKnown(_ device: UInt64) -> Bool { device >> 8 & 0xFFF != 0 }

  static func contains(_ device: UInt64) -> Bool {
    devices.withLock { $0.contains(device) }
  }
}

extension FileOrigin {
  /// Whether `lookUp` won't wait for anything: the path is in the system's cache, the file is on a known
  /// disk, and it wasn't changed a moment ago.
  var isAtHand: Bool {
    guard path.isUsable, growth == .refused,
      let file = cachedFile(path, followsSymlinks: accepted.followsSymlinks),
      KnownDisks.contains(file.device)
    else { return false }
    return !file.changed.isRecent(at: .fileClock)
  }
}

extension PartBody {
  /// Finds out what the file of this body, or the first file of its form, is stored on. Does nothing if the file may be
  /// on another machine. Afterwards, the first request for a file on a disk needs no thread that waits for the answer.
  package func noteDisk() {
    switch kind {
    case .file(let origin):
      guard let file = cachedFile(origin.path, followsSymlinks: origin.accepted.followsSymlinks),
        KnownDisks.mayBeKnown(file.device), !KnownDisks.contains(file.device)
      else { return }
      KnownDisks.note(file.device, FileStorage(of: origin.path))
    case .form(let form): form.noteDisk()
    default: return
    }
  }

  /// The maximum number of bytes in memory and the maximum number of parts of a body that is laid out
  /// without waiting. All bytes in memory are searched for the boundary, which takes too long for larger bodies.
  private static let maximumSize = 256 * 1024
  private static let maximumParts = 16

  /// Whether the body can be laid out at once, without waiting for a disk, a program or a network.
  package var isAtHand: Bool {
    switch kind {
    case .text(let text): text.utf8.count <= Self.maximumSize
    case .bytes(let bytes): bytes.count <= Self.maximumSize
    case .file(let origin): origin.isAtHand
    case .form(let form): form.isAtHand
    case .stream, .descriptor: false
    case .pinned, .closed, .invalid: true
    }
  }

  fileprivate static func areFew(_ parts: [Part]) -> Bool { parts.count <= maximumParts }
}

extension Form {
  /// Finds out what the file of the first file part is stored on; see ``PartBody/noteDisk()``.
  package func noteDisk() {
    for part in parts {
      guard case .file = part.body.kind else { continue }
      return part.body.noteDisk()
    }
  }

  /// Whether the form can be laid out at once, if no files are searched for the boundary. A form with a type that has
  /// to be detected can't be laid out at once, because detection may read the contents.
  package var isAtHand: Bool {
    PartBody.areFew(parts)
      && parts.allSatisfy { ($0.type != nil || $0.filename == nil) && $0.body.isAtHand }
  }
}
