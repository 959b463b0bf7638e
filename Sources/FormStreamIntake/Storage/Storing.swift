import FormStreamMultipart
import FormStreamPlatform

/// Files that came together, on their way to their names: each gets one, or none keeps one.
///
/// First all is done that can fail before others see anything of it. What fails behind that takes back what
/// has its name, but for what has taken another file's place: that one can't be had back.
///
/// No directory is kept open for a file: many files may stand in many directories.
final class Storing {
  /// How many names like a directory's own are tried where something else has it.
  private static let maximumSiblings = 100
  /// How often a file's place is looked for where others remove directories meanwhile.
  private static let maximumWalks = 100

  /// A file that is whole, under its temporary name.
  struct Whole {
    let file: AtomicFile
    let place: SafePath
  }

  /// One that can have its place, as far as can be known.
  private struct Prepared {
    let file: Whole
    let identity: FileKey
    let replaces: Bool
  }

  private let root: DirectoryDescriptor
  private let numbers: LastNumbers
  private let replacing: Bool
  /// The directories that were made, from the outermost to the innermost.
  private var made: [LocalPath] = []
  /// What has its name, and nothing was there before.
  private var added: [LocalPath: FileKey] = [:]
  /// What has taken another's place.
  private(set) var replaced: Set<LocalPath> = []
  /// Both, by what the system knows them by: two names may be one to it.
  private var identities: Set<FileKey> = []

  init(in root: DirectoryDescriptor, numbers: LastNumbers, replacing: Bool) {
    self.root = root
    self.numbers = numbers
    self.replacing = replacing
  }

  /// Gives the files their names; returns those, relative to the directory.
  func store(_ files: [Whole]) throws(SystemError) -> [LocalPath] {
    var prepared: [Prepared] = []
    for file in files { prepared.append(try prepare(file)) }
    // What replaces nothing comes first: it can be taken back.
    let order =
      prepared.indices.filter { !prepared[$0].replaces }
      + prepared.indices.filter { prepared[$0].replaces }
    var paths: [Int: LocalPath] = [:]
    for index in order { paths[index] = try move(prepared[index]) }
    return files.indices.compactMap { paths[$0] }
  }

  /// Removes what ``store(_:)`` has made and added, where it is still that.
  func takeBack() {
    for (path, identity) in added {
      guard let (directory, name) = parent(of: path) else { continue }
      if (try? directory.identity(of: name)) == identity { directory.remove(name) }
    }
    for path in made.reversed() {
      // What others have put something into stays.
      if let (directory, name) = parent(of: path) { directory.removeDirectory(name) }
    }
  }

  private func prepare(_ file: Whole) throws(SystemError) -> Prepared {
    guard let identity = try root.identity(of: file.file.temporaryName) else { throw .notFound }
    let isTaken = try walking(to: file.place) { (directory, _) throws(SystemError) in
      try directory.checkWritable()
      // This also says where the file system takes no such name.
      return try directory.identity(of: file.place.name.numbered(1)) != nil
    }
    return Prepared(file: file, identity: identity, replaces: replacing && isTaken)
  }

  private func move(_ prepared: Prepared) throws(SystemError) -> LocalPath {
    let (file, place) = (prepared.file.file, prepared.file.place)
    return try walking(to: place) { (directory, way) throws(SystemError) in
      func path(_ name: LocalPath) -> LocalPath { LocalPath(bytes: way + name.bytes) }
      var number = 1
      var name = place.name.numbered(number)
      if replacing {
        let before = try directory.identity(of: name)
        let isOurs =
          added[path(name)] != nil || replaced.contains(path(name))
          || before.map(identities.contains) == true
        if !isOurs, try file.commit(as: name, in: directory) {
          identities.insert(prepared.identity)
          if before == nil {
            added[path(name)] = prepared.identity
          } else {
            replaced.insert(path(name))
          }
          return path(name)
        }
        number = numbers.next(for: place, after: number)
        name = place.name.numbered(number)
      }
      while try !file.commit(as: name, in: directory, ifTaken: .refuse) {
        number = numbers.next(for: place, after: number)
        name = place.name.numbered(number)
      }
      identities.insert(prepared.identity)
      added[path(name)] = prepared.identity
      return path(name)
    }
  }
}

extension Storing {
  /// Does something in the directory that a file goes to, which is made where it is not there.
  private func walking<Result>(
    to place: SafePath,
    _ body: (DirectoryDescriptor, _ way: [UInt8]) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    for _ in 1..<Self.maximumWalks {
      do throws(SystemError) {
        let (directory, way) = try walk(to: place)
        return try body(directory, way)
      } catch  where error == .notFound {
        // A directory on the way is gone again, and is made again.
      }
    }
    let (directory, way) = try walk(to: place)
    return try body(directory, way)
  }

  private func walk(
    to place: SafePath
  ) throws(SystemError) -> (directory: DirectoryDescriptor, way: [UInt8]) {
    var directory = root
    var way: [UInt8] = []
    for name in place.directories {
      let next = try subdirectory(name, of: directory, at: way)
      directory = next.descriptor
      way += next.name.bytes + [UInt8(ascii: "/")]
    }
    return (directory, way)
  }

  /// Opens or makes a directory of that name, or the first like it where something else has the name: an
  /// earlier file's name must not keep a later one out, and a link is not followed.
  private func subdirectory(
    _ name: SafeName, of parent: DirectoryDescriptor, at way: [UInt8]
  ) throws(SystemError) -> (descriptor: DirectoryDescriptor, name: LocalPath) {
    for number in 1...Self.maximumSiblings {
      let name = name.numbered(number)
      let found: DirectoryDescriptor?
      do throws(SystemError) {
        found = try DirectoryDescriptor(opening: name, in: parent)
      } catch  where error == .notFound {
        if try parent.makeDirectory(name) { made.append(LocalPath(bytes: way + name.bytes)) }
        found = try DirectoryDescriptor(opening: name, in: parent)
      }
      if let found { return (found, name) }
    }
    throw .notADirectory
  }

  /// Opens the directory that something stands in; nil where the way there is gone. No link is followed.
  private func parent(
    of path: LocalPath
  ) -> (directory: DirectoryDescriptor, name: LocalPath)? {
    var names = path.bytes.split(separator: UInt8(ascii: "/")).map(LocalPath.init(bytes:))
    guard let last = names.popLast() else { return nil }
    var directory = root
    for name in names {
      guard let next = try? DirectoryDescriptor(opening: name, in: directory) else { return nil }
      directory = next
    }
    return (directory, last)
  }
}
