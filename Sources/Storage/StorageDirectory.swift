package import Multipart
import Synchronization

/// A directory in which files from outside are stored: never outside of it, never over another, never
/// half.
///
/// It is opened once, and all is done relative to what was opened then: nobody can put another directory,
/// or a link, in the path's place.
package final class StorageDirectory: Sendable {
  private static let maximumRemembered = 4096

  private let path: LocalPath
  private let descriptor: DirectoryDescriptor
  /// The number that each name was last stored with, so that a thousand files of one name don't try a
  /// thousand names each. All of it is forgotten when it has grown too large.
  private let lastNumbers = Mutex<[SafeName: Int]>([:])

  /// Opens a directory; its last component is made where it is not there.
  package init(_ path: LocalPath) throws(StorageError) {
    self.path = path
    do throws(SystemError) {
      guard path.isUsable else { throw .notFound }
      descriptor = try DirectoryDescriptor(openingOrMaking: path)
    } catch {
      throw .unusable(path, error)
    }
  }

  /// A name that no other file will have, for a file that is not whole.
  package static func temporaryName() -> LocalPath {
    LocalPath(".formstream-\(String(UInt64.random(in: .min ... .max), radix: 36))")
  }

  /// Begins a file, under a name of ``temporaryName()``.
  package func makeFile(temporaryName: LocalPath) throws(StorageError) -> IncomingFile {
    let file: FileDescriptor = try attempting(.made) { () throws(SystemError) in
      try descriptor.makeFile(temporaryName)
    }
    return IncomingFile(file, named: temporaryName, in: self)
  }

  /// Gives a file its name, or the first like it that is free, and returns that.
  fileprivate func rename(
    _ temporaryName: LocalPath, to name: SafeName
  ) throws(StorageError) -> LocalPath {
    var number = lastNumbers.withLock { $0[name] ?? 0 }
    while true {
      number += 1
      let candidate = name.numbered(number)
      let isDone: Bool = try attempting(.named) { () throws(SystemError) in
        try descriptor.rename(temporaryName, toFree: candidate)
      }
      guard isDone else { continue }
      lastNumbers.withLock { numbers in
        if numbers.count >= Self.maximumRemembered { numbers.removeAll() }
        numbers[name] = number
      }
      return candidate
    }
  }

  fileprivate func remove(_ name: LocalPath) {
    descriptor.remove(name)
  }

  fileprivate func attempting<Result>(
    _ act: StorageError.Act, _ body: () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do throws(SystemError) { return try body() } catch { throw .failed(act, in: path, error) }
  }
}

/// A file that is being received. It has its name when it is whole, and is gone when it is let go before.
package final class IncomingFile {
  private let file: FileDescriptor
  private let temporaryName: LocalPath
  private let directory: StorageDirectory
  private var isStored = false

  fileprivate init(
    _ file: FileDescriptor, named temporaryName: LocalPath, in directory: StorageDirectory
  ) {
    self.file = file
    self.temporaryName = temporaryName
    self.directory = directory
  }

  deinit { if !isStored { directory.remove(temporaryName) } }

  /// Writes the next bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try directory.attempting(.written) { () throws(SystemError) in try file.write(bytes) }
  }

  /// Gives the file its name, now that it is whole; returns the name that it has in the directory, which
  /// is another where that one was taken.
  package func store(as name: SafeName) throws(StorageError) -> LocalPath {
    try directory.attempting(.written) { () throws(SystemError) in try file.close() }
    let stored = try directory.rename(temporaryName, to: name)
    isStored = true
    return stored
  }
}
