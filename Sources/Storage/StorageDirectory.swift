package import Multipart

/// A directory in which files from outside are stored: never outside of it, never over another unless that
/// is asked for, never half. Any number of threads may store in it at once.
///
/// It is opened once, and all is done relative to what was opened then: nobody can put another directory,
/// or a link, in the path's place.
package final class StorageDirectory: Sendable {
  /// How many names like a directory's own are tried where something else has it.
  private static let maximumSiblings = 100
  /// How often a file's place is looked for where others remove directories meanwhile.
  private static let maximumWalks = 100

  private let path: LocalPath
  private let descriptor: DirectoryDescriptor
  private let numbers = LastNumbers()

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

  /// Begins a file.
  ///
  /// - Parameter temporaryName: one of ``temporaryName()``, for those who have to know it.
  package func makeFile(
    temporaryName: LocalPath = StorageDirectory.temporaryName()
  ) throws(StorageError) -> IncomingFile {
    let file: FileDescriptor = try attempting(.made) { () throws(SystemError) in
      try descriptor.makeFile(temporaryName)
    }
    return IncomingFile(file, named: temporaryName, in: self)
  }

  /// Gives a file its place, and returns that.
  func move(
    _ temporaryName: LocalPath, to place: SafePath, replacing: Bool
  ) throws(StorageError) -> LocalPath {
    try attempting(.named) { () throws(SystemError) in
      for _ in 1..<Self.maximumWalks {
        do throws(SystemError) {
          return try tryMove(temporaryName, to: place, replacing: replacing)
        } catch  where error == .notFound {
          // A directory on the way is gone again, and is made again.
        }
      }
      return try tryMove(temporaryName, to: place, replacing: replacing)
    }
  }

  private func tryMove(
    _ temporaryName: LocalPath, to place: SafePath, replacing: Bool
  ) throws(SystemError) -> LocalPath {
    var directory = descriptor
    var way: [UInt8] = []
    for name in place.directories {
      let next = try subdirectory(name, of: directory)
      directory = next.descriptor
      way += next.name.bytes + [UInt8(ascii: "/")]
    }

    var number = 1
    var name = place.name.numbered(number)
    var isDone =
      replacing
      ? try descriptor.move(temporaryName, to: directory, replacing: name)
      : try descriptor.move(temporaryName, to: directory, asFree: name)
    while !isDone {
      number = numbers.next(for: place, after: number)
      name = place.name.numbered(number)
      isDone = try descriptor.move(temporaryName, to: directory, asFree: name)
    }
    return LocalPath(bytes: way + name.bytes)
  }

  /// Opens or makes a directory of that name, or the first like it where something else has the name: an
  /// earlier file's name must not keep a later one out, and a link is not followed.
  private func subdirectory(
    _ name: SafeName, of parent: DirectoryDescriptor
  ) throws(SystemError) -> (descriptor: DirectoryDescriptor, name: LocalPath) {
    for number in 1...Self.maximumSiblings {
      let name = name.numbered(number)
      if let found = try DirectoryDescriptor(openingOrMaking: name, in: parent) {
        return (found, name)
      }
    }
    throw .noDirectory
  }

  func remove(_ name: LocalPath) {
    descriptor.remove(name)
  }

  func attempting<Result>(
    _ act: StorageError.Act, _ body: () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do throws(SystemError) { return try body() } catch { throw .failed(act, in: path, error) }
  }
}
