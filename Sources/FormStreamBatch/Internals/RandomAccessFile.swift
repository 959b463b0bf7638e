import FormStreamMultipart
import FormStreamPlatform
import Glibc

/// A file that can be read and written at any offset. It is closed when it is released.
final class RandomAccessFile: Sendable {
  private let number: CInt

  /// Opens a regular file for reading; nil if the path names something else.
  ///
  /// C: `open`, `fstat`
  init?(reading path: LocalPath) throws(SystemError) {
    guard path.isUsable else { throw .notFound }
    number = try retryingInterrupts {
      path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
    }
    guard try FileStatus(ofDescriptor: number).kind == .regular else { return nil }
  }

  /// Makes a file without a name. The system removes the file when it is closed.
  ///
  /// C: `open(O_EXCL)`, `unlink`
  init(unnamedIn directory: LocalPath) throws(SystemError) {
    guard directory.isUsable else { throw .notFound }
    let path = directory.appending(FileName.temporary().bytes)
    number = try retryingInterrupts {
      path.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
    }
    _ = path.withCString { unlink($0) }
  }

  deinit { close(number) }

  /// The file's size.
  var size: Int64 {
    get throws(SystemError) { try FileStatus(ofDescriptor: number).identity.size }
  }

  /// Reads `count` bytes from an offset on, or fewer if the file ends before.
  ///
  /// C: `pread`
  func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      do throws(SystemError) {
        while done < count {
          let more = try retryingInterrupts {
            pread(number, buffer.baseAddress.map { $0 + done }, count - done, off_t(offset) + done)
          }
          if more == 0 { break }
          done += more
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes bytes at an offset. The offset may lie after the end of the file.
  ///
  /// C: `pwrite`
  func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      done += try retryingInterrupts {
        bytes.withUnsafeBytes { bytes in
          pwrite(
            number, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + done)
        }
      }
    }
  }

  /// Appends bytes.
  ///
  /// C: `write`
  func append(_ bytes: [UInt8]) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { bytes in
      do throws(SystemError) { try writeAll(bytes, to: number) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
