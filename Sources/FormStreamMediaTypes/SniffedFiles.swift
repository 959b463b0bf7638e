public import FormStreamMultipart

/// A file and its type, or why it has none.
public struct SniffedFile: Sendable {
  /// The file's path, as it was given.
  public let path: LocalPath
  /// Its type.
  public let result: Result<SniffedType, MediaTypesError>
}

extension MediaTypeSniffer {
  /// The types of many files, in their order. A few are looked at ahead of the one that is asked for, on
  /// other threads; more are not, however many there are.
  public func types<Paths: AsyncSequence>(of paths: Paths) -> SniffedFiles<Paths>
  where Paths.Element == LocalPath {
    SniffedFiles(paths: paths, sniffer: self)
  }

  fileprivate func look(at path: LocalPath) -> SniffedFile {
    do throws(MediaTypesError) {
      return SniffedFile(path: path, result: .success(try type(of: path)))
    } catch {
      return SniffedFile(path: path, result: .failure(error))
    }
  }
}

/// What ``MediaTypeSniffer/types(of:)`` gives.
public struct SniffedFiles<Paths: AsyncSequence>: AsyncSequence where Paths.Element == LocalPath {
  /// Enough to keep libmagic's cookies busy, and no more.
  private static var ahead: Int { 8 }

  let paths: Paths
  let sniffer: MediaTypeSniffer

  /// Begins with the first path.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(paths: paths.makeAsyncIterator(), sniffer: sniffer)
  }

  /// Gives one file after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var paths: Paths.AsyncIterator
    private let sniffer: MediaTypeSniffer
    private var looks: [Task<SniffedFile, Never>] = []
    private var isAtEnd = false
    /// Why there are no more paths; thrown behind what was found out before.
    private var failure: (any Error)?

    init(paths: Paths.AsyncIterator, sniffer: MediaTypeSniffer) {
      self.paths = paths
      self.sniffer = sniffer
    }

    /// The next file; nil behind the last.
    ///
    /// - Throws: what the paths throw, behind all files that came before. What goes wrong with a file is its `result`.
    public mutating func next() async throws -> SniffedFile? {
      while !isAtEnd, looks.count < SniffedFiles.ahead {
        do {
          if let path = try await paths.next() {
            looks.append(Task { [sniffer] in sniffer.look(at: path) })
          } else {
            isAtEnd = true
          }
        } catch {
          (failure, isAtEnd) = (error, true)
        }
      }
      guard !looks.isEmpty else {
        defer { failure = nil }
        if let failure { throw failure }
        return nil
      }
      return await looks.removeFirst().value
    }
  }
}
