public import FormStreamMultipart

/// A file and its type, or the error of detecting it.
public struct SniffedFile: Sendable {
  /// The path of the file, as it was given.
  public let path: LocalPath
  /// The type, or the error.
  public let result: Result<SniffedType, MediaTypesError>
}

extension MediaTypeSniffer {
  /// Detects the types of many files and returns them in order. At most eight files are read ahead,
  /// on other threads.
  public func types<Paths: AsyncSequence>(of paths: Paths) -> SniffedFiles<Paths>
  where Paths.Element == LocalPath {
    SniffedFiles(paths: paths, sniffer: self)
  }

  fileprivate func sniff(_ path: LocalPath) -> SniffedFile {
    do throws(MediaTypesError) {
      return SniffedFile(path: path, result: .success(try type(of: path)))
    } catch {
      return SniffedFile(path: path, result: .failure(error))
    }
  }
}

/// The files of ``MediaTypeSniffer/types(of:)``, each with its type.
public struct SniffedFiles<Paths: AsyncSequence>: AsyncSequence where Paths.Element == LocalPath {
  /// The number of files that are read ahead: enough to keep the cookies of libmagic busy.
  private static var maximumAhead: Int { 8 }

  let paths: Paths
  let sniffer: MediaTypeSniffer

  /// Starts with the first path.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(paths: paths.makeAsyncIterator(), sniffer: sniffer)
  }

  /// Returns one file after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var paths: Paths.AsyncIterator
    private let sniffer: MediaTypeSniffer
    private var running: [Task<SniffedFile, Never>] = []
    private var isAtEnd = false
    /// The error of `paths`; thrown after the files before it.
    private var failure: (any Error)?

    init(paths: Paths.AsyncIterator, sniffer: MediaTypeSniffer) {
      self.paths = paths
      self.sniffer = sniffer
    }

    /// The next file; nil after the last. This method stays on the caller's actor; the files are read on other threads.
    ///
    /// - Throws: the error of `paths`, after the files before the error were returned. If a file's type can't be detected, the
    ///   error is in the file's `result`.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> SniffedFile? {
      while !isAtEnd, running.count < SniffedFiles.maximumAhead {
        do {
          if let path = try await paths.next(isolation: actor) {
            // The file is not read on the caller's actor, so the closure must not capture the actor.
            running.append(Task { @concurrent [sniffer] in sniffer.sniff(path) })
          } else {
            isAtEnd = true
          }
        } catch {
          (failure, isAtEnd) = (error, true)
        }
      }
      guard !running.isEmpty else {
        defer { failure = nil }
        if let failure { throw failure }
        return nil
      }
      return await running.removeFirst().value
    }
  }
}
