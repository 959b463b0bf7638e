import FormStreamMultipart
import FormStreamPlatform

/// Reads a file that a flag names, and fails if the file has more than `limit` bytes. The file may be a pipe, such as
/// shells make for `<(command)`.
///
/// - Parameter subject: how a message names the file if it can't be read; nil to name its path and its flag.
func readSmallFile(
  _ path: LocalPath, for flag: String, limit: Int, subject: String? = nil
) throws(Failure) -> [UInt8] {
  try StandardInput.check(path, for: flag)
  let bytes: [UInt8]
  do throws(SystemError) {
    guard path.isUsable else { throw .notFound }
    bytes = try contents(of: path, upTo: limit)
  } catch {
    let remedy =
      error.isPermissionDenied ? "Allow it with chmod, or name another." : "Check the path."
    throw Failure(
      .noInput,
      "\(subject ?? "The file \"\(path)\" of \(flag)") can't be read: \(error). \(remedy)")
  }
  guard bytes.count <= limit else {
    throw .usage(
      "The file \"\(path)\" of \(flag) has more than \(counted(limit, "byte", "bytes")): name another."
    )
  }
  return bytes
}
