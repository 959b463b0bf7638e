import Glibc

/// Opens a new file for reading and writing that has no name, and that only this process can use. The file is removed
/// when it is closed, however the process ends. The caller owns the descriptor.
///
/// C: `open(O_TMPFILE)`
package func openTemporaryFile(in directory: some PathBytes) throws(SystemError) -> Int32 {
  guard directory.isUsable else { throw .notFound }
  do throws(SystemError) {
    // O_EXCL: the file can't get a name later.
    let flags = O_RDWR | openUnnamed | O_EXCL | O_CLOEXEC
    return try retryingInterrupts { directory.withCString { open($0, flags, 0o600) } }
  } catch  where [EOPNOTSUPP, EISDIR, EINVAL].contains(error.number) {
    return try openRemovedFile(in: directory)
  }
}

/// Opens a temporary file on file systems that have no files without names: for a moment the file has a name.
///
/// C: `open(O_EXCL)`, `unlink`
private func openRemovedFile(in directory: some PathBytes) throws(SystemError) -> Int32 {
  let path = FileName(
    bytes: directory.bytes + [UInt8(ascii: "/")] + FileName.temporary().bytes)
  let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
  let number = try retryingInterrupts { path.withCString { open($0, flags, 0o600) } }
  _ = path.withCString { unlink($0) }
  return number
}

/// Where temporary files go: `TMPDIR`, or `/tmp`.
///
/// C: `getenv`
package var temporaryDirectory: [UInt8] {
  guard let value = getenv("TMPDIR"), value.pointee != 0 else { return Array("/tmp".utf8) }
  return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
}
