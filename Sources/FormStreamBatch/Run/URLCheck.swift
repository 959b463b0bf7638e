import FormStreamDigest
package import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// Finds files of a batch that would be sent to the same URL, before anything is sent. It sorts the URLs in bounded memory.
package final class URLCheck {
  private let plan: Batch
  private let template: URLTemplate
  private let directory: LocalPath
  private let sorter: ExternalSorter
  private let hasIndices: Bool
  private let noteCompared: () -> Void

  /// Returns nil if no two files can have the same URL, so that nothing needs to be checked.
  ///
  /// - Parameters:
  ///   - hasOneRoot: whether all files are below one directory, and the paths in URLs are relative to that directory.
  ///   - hasIndices: whether no two files have the same index, as in one listing. The indices begin with 0 in each shard,
  ///     and in each manifest of remaining files.
  ///   - directory: the directory for temporary files with the URLs that don't fit into memory.
  ///   - noteCompared: called for each file.
  package init?(
    _ plan: Batch, hasOneRoot: Bool, hasIndices: Bool, in directory: LocalPath,
    noteCompared: @escaping () -> Void
  ) {
    guard let template = plan.urls,
      !template.isDistinct(hasOneRoot: hasOneRoot, hasIndices: hasIndices)
    else { return nil }
    (self.plan, self.template, self.directory) = (plan, template, directory)
    (self.hasIndices, self.noteCompared) = (hasIndices, noteCompared)
    sorter = ExternalSorter(in: directory, memory: 16 * 1024 * 1024)
  }

  /// Adds all files of a manifest, and throws if two of them have the same URL.
  ///
  /// - Throws: `invalidTemplate`, with the names of both files.
  package func check(_ manifest: ManifestReader) throws(BatchError) {
    while let file = try manifest.next() {
      // A file that is missing or unreadable now may be readable later, or for a run on another machine. So its URL is
      // compared too.
      let isOut = file.problem.map { !BatchFile.passingProblems.contains($0.code) } ?? false
      if isOut { noteCompared() } else { try add(file) }
    }
    try finish()
  }

  /// Adds all files of a listing, and throws if two of them have the same URL. Returns the files, because a listing can be
  /// read only once. A file that can't be read now is not sent, even if it can be read later, because its URL was not
  /// compared.
  package func checked(_ listing: any BatchInput) throws(BatchError) -> any BatchInput {
    let files = try ListedFiles(of: listing, in: directory, look)
    try finish()
    return files
  }

  /// Adds a listed file. Notes the problem if the file can't be read.
  package func look(at file: inout BatchFile) throws(BatchError) {
    if file.problem == nil {
      do throws(SystemError) { try checkReadable(file.path) } catch {
        file.problem = .unreadable(at: file.path, error)
      }
    }
    if file.problem == nil { try add(file) } else { noteCompared() }
  }

  private func add(_ file: BatchFile) throws(BatchError) {
    noteCompared()
    guard hasIndices || !template.hasIndex || file.keptIndex != nil else {
      throw BatchError(
        .invalidTemplate, on: "the URL",
        "{index} counts from 0 in each shard and in each manifest, so files of two runs would have one URL: write {path} or "
          + "{relative} in its place.")
    }
    let (url, digest): (HTTPURL?, SHA256Digest?)
    if template.needsContents {
      let opened = try open(file)
      (url, digest) = (opened.flatMap { try? template.url(for: $0) }, opened?.digest)
    } else {
      (url, digest) = (try? template.url(for: file), nil)
    }
    // A file without a URL is not sent.
    guard let url else { return }
    let line = Array((digest?.description ?? "").utf8) + [0] + file.path.bytes
    try sorter.add(line, key: Self.key(of: url.absoluteString))
  }

  /// Opens a file; nil if it is not the file that was listed, or can't be read.
  private func open(_ file: BatchFile) throws(BatchError) -> OpenedBatchFile? {
    do throws(BatchError) { return try OpenedBatchFile(file, plan) } catch {
      // The file may be opened later, and would then be sent to a URL that was not compared.
      if error.code == .tooManyOpenFiles { throw error }
      return nil
    }
  }

  /// The key by which URLs are compared. Many servers treat two slashes in a path as one.
  private static func key(of url: String) -> [UInt8] {
    var key: [UInt8] = []
    var isInQuery = false
    for byte in url.utf8 {
      if byte == UInt8(ascii: "?") { isInQuery = true }
      if byte == UInt8(ascii: "/"), !isInQuery, key.last == byte { continue }
      key.append(byte)
    }
    return key
  }

  /// Throws if two of the added files have the same URL.
  ///
  /// - Throws: `invalidTemplate`, with the names of both files.
  package func finish() throws(BatchError) {
    let urls = try sorter.sorted()
    var last: (key: [UInt8], line: [UInt8])?
    while let next = try urls.next() {
      if let last, last.key == next.key { try compare(last.line, next.line, at: next.key) }
      last = next
    }
  }

  /// Throws if two files with the same URL are different. The same file may be in a manifest twice, with different fields.
  /// Files with the same contents may have the same URL if the URL contains their digest.
  private func compare(_ one: [UInt8], _ other: [UInt8], at key: [UInt8]) throws(BatchError) {
    let (first, second) = (Self.parts(of: one), Self.parts(of: other))
    let isSameContents = !first.digest.isEmpty && first.digest == second.digest
    guard first.path != second.path, !isSameContents else { return }
    let place =
      template.shown(String(decoding: key, as: UTF8.self)).map { " \($0.quoted)" } ?? " one URL"
    throw BatchError(
      .invalidTemplate, on: "the URL",
      "The files \(first.path.description.quoted) and \(second.path.description.quoted) would both be sent to\(place), and "
        + "one would replace the other: write more of the file into the URL, such as {path} or {relative}."
    )
  }

  private static func parts(of line: [UInt8]) -> (digest: ArraySlice<UInt8>, path: LocalPath) {
    let digest = line.prefix { $0 != 0 }
    return (digest, LocalPath(bytes: line.dropFirst(digest.count + 1)))
  }
}
