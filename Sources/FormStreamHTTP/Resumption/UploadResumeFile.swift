import FormStreamMultipart
import FormStreamPlatform

/// A file that keeps the data of an upload, so that another process can continue it, even after `kill -9`.
///
/// Only its owner can read it. It is written before the first byte is sent, gets a line for each step, and is removed at the end.
final class UploadResumeFile: Sendable {
  /// The longest file that is read. A form of 100,000 files needs 30 MB.
  private static let maximumSize: Int64 = 256 * 1024 * 1024

  private let path: LocalPath
  private let directory: DirectoryDescriptor
  private let name: FileName
  private let file: AppendedFile
  private let hasContents: Guarded<Bool>
  /// What an earlier process has left in the file; nil if it has left nothing.
  let earlier: UploadResumeData?

  /// Opens the file, or makes it, and keeps other processes from using it.
  init(_ path: LocalPath) throws(TransferError) {
    self.path = path
    guard path.isUsable, !path.lastComponentBytes.isEmpty else {
      throw .resumeFileUnusable(path, .notFound)
    }
    name = path.name
    let isOurs, isResumeFile: Bool
    let ownership: AppendedFile.Ownership
    let contents: [UInt8]
    do throws(SystemError) {
      directory = try DirectoryDescriptor(path.directory)
      file = try AppendedFile(continuing: name, in: directory)
      ownership = try file.ownership()
      // Its owner may have removed the file before it was locked.
      let isLocked = ownership == .own ? try file.lock() : false
      let isNamed = try file.isNamed(name, in: directory)
      isOurs = isLocked && isNamed
      // A file that is something else stays as it is, even if it ends without a line feed.
      isResumeFile = isOurs ? UploadResumeData.beginLines(try file.beginning(upTo: 64)) : false
      let size = isResumeFile ? try file.cutTornLine() : 0
      contents = size > 0 ? try file.beginning(upTo: Int(clamping: min(size, Self.maximumSize))) : []
    } catch {
      throw .resumeFileUnusable(path, error)
    }
    // A file of another process is not removed.
    hasContents = Guarded(!isResumeFile || !contents.isEmpty)
    // What another user has written could send the upload elsewhere.
    if ownership == .foreign { throw .resumeFileOfOtherUser(path) }
    if ownership == .open { throw .resumeFileOpenToOthers(path) }
    guard ownership == .own else { throw .notAResumeFile(path) }
    guard isOurs else { throw .resumeFileInUse(path) }
    guard isResumeFile else { throw .notAResumeFile(path) }
    earlier = UploadResumeData(lines: contents)
    guard contents.isEmpty || earlier != nil else { throw .notAResumeFile(path) }
  }

  /// A file that nobody waits for any more, because the request was cancelled while it was opened, is not left behind.
  deinit { close() }

  /// Writes what describes the upload, in place of what an earlier process has left.
  func begin(_ data: UploadResumeData) throws(TransferError) {
    hasContents.withLock { $0 = true }
    do throws(SystemError) {
      try file.makePrivate()
      try file.removeContents()
      try file.append(data.line)
      try file.synchronize()
      try directory.synchronize()
    } catch {
      throw .resumeFileUnusable(path, error)
    }
  }

  /// Writes how far the upload is.
  func append(_ data: UploadResumeData) throws(TransferError) {
    do throws(SystemError) {
      try file.makePrivate()
      try file.appendWhole(data.stepLine)
      try file.synchronize()
    } catch {
      throw .resumeFileNotWritten(path, error)
    }
  }

  /// Lets other requests use the file. A request that failed before it began leaves no file.
  ///
  /// The result must come after this, so it can't be left to the release of the object: the thread that has opened the file
  /// may hold it for a while longer.
  func close() {
    if !hasContents.withLock(\.self) { remove() }
    try? file.close()
  }

  func remove() {
    // Another file may have the name now.
    guard (try? file.isNamed(name, in: directory)) == true else { return }
    directory.remove(name)
  }
}
