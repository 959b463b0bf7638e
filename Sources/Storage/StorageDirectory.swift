package import Multipart

/// A directory in which files from outside are stored: never outside of it, never over another unless that
/// is asked for, never half. Any number of threads may store in it at once.
///
/// It is opened once, and all is done relative to what was opened then: nobody can put another directory,
/// or a link, in the path's place.
package final class StorageDirectory: Sendable {
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

  /// Gives files their places, now that they are whole; returns where each is, relative to the directory. Where
  /// one can't have its place, none has one, and no directory that was made for them stays.
  ///
  /// Without `replacing` a file goes beside what has its name, with a number: `photo-2.jpg`. With it, a file or a
  /// link that has the name is gone, what the link leads to is not touched, and only a directory, or one of these
  /// files, makes it a number. What was replaced before another failed can't be had back: what took its place
  /// stays. So those that replace nothing get their places first.
  package func store(
    _ files: [(file: IncomingFile, place: SafePath)], replacing: Bool = false
  ) throws(StorageError) -> [LocalPath] {
    for (file, _) in files { try file.close() }
    let storing = Storing(in: descriptor, numbers: numbers, replacing: replacing)
    do throws(SystemError) {
      let paths = try storing.store(
        files.map { .init(temporaryName: $0.file.temporaryName, place: $0.place) })
      for (file, _) in files { file.noteStored() }
      return paths
    } catch {
      storing.takeBack()
      throw .unnamed(
        files.count, in: path, error, replaced: storing.replaced.count)
    }
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
