package import FormStreamMultipart
package import FormStreamPlatform

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

  /// Begins a file.
  ///
  /// - Parameter temporaryName: what it is called until it is stored.
  package func makeFile(
    temporaryName: FileName = .temporary()
  ) throws(StorageError) -> IncomingFile {
    let file: AtomicFile = try attempting(.made) { () throws(SystemError) in
      try AtomicFile(in: descriptor, temporaryName: temporaryName)
    }
    return IncomingFile(file, in: self)
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
        files.map { .init(file: $0.file.file, place: $0.place) })
      return paths
    } catch {
      storing.takeBack()
      throw .unnamed(
        files.count, in: path, error, replacedCount: storing.replaced.count)
    }
  }

  func attempting<Result>(
    _ act: StorageError.Act, _ body: () throws(SystemError) -> Result
  ) throws(StorageError) -> Result {
    do throws(SystemError) { return try body() } catch { throw .failed(act, in: path, error) }
  }
}
