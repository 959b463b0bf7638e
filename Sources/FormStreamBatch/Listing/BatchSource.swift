public import FormStreamMultipart
import FormStreamPlatform

/// Where the files of a batch come from.
public struct BatchSource: Sendable {
  /// The byte that ends each path of a list.
  public enum Ending: UInt8, Sendable {
    /// A line feed after each path.
    case lineFeed = 0x0A
    /// A NUL after each path, as `find -print0` writes it: for names that have line breaks.
    case nul = 0
  }

  /// Opens a list.
  package typealias Opening = @Sendable () throws(BatchError) -> any ByteSource

  enum Kind: Sendable {
    case path(LocalPath)
    case list(name: String, Ending, Opening)
  }

  let kind: Kind

  /// A file, or all files below a directory. If the path names a link, the file or directory that the link leads to is
  /// used.
  public static func path(_ path: LocalPath) -> BatchSource {
    BatchSource(kind: .path(path))
  }

  /// A file, or all files below a directory.
  public static func path(_ path: String) -> BatchSource { .path(LocalPath(path)) }

  /// A file that lists paths.
  public static func list(_ path: LocalPath, ending: Ending) -> BatchSource {
    let name = "The list \(path.description.quoted)"
    return .list(name: name, ending: ending) { () throws(BatchError) in
      do throws(SystemError) {
        guard path.isUsable else { throw .notFound }
        return try DescriptorSource(opening: path)
      } catch {
        throw BatchError(
          .listUnreadable, on: path.description,
          "\(name) can't be read: \(error). Name one that can.", underlying: error)
      }
    }
  }

  /// A file that lists paths.
  public static func list(_ path: String, ending: Ending) -> BatchSource { .list(LocalPath(path), ending: ending) }

  /// A list of paths that is read from standard input.
  public static func standardInput(ending: Ending) -> BatchSource {
    .list(name: "Standard input", ending: ending) { () throws(BatchError) in
      do throws(SystemError) {
        return try DescriptorSource(duplicating: 0)
      } catch {
        throw BatchError(
          .listUnreadable, on: "standard input",
          "Standard input can't be read: \(error). Redirect it with < or |.", underlying: error)
      }
    }
  }

  /// A list of paths from anywhere.
  ///
  /// - Parameter name: a name for the list that can be the subject of a sentence in messages.
  package static func list(
    name: String, ending: Ending, open: @escaping Opening
  ) -> BatchSource {
    BatchSource(kind: .list(name: name, ending, open))
  }
}
