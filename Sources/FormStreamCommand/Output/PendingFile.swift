import FormStreamMultipart
import Synchronization

/// A file in the making, beside the one whose place it will take. It goes when it is not committed,
/// also where a signal ends the program. Until then nobody else can read it.
final class PendingFile: Sendable {
  let descriptor: OutputDescriptor
  private let path: LocalPath
  private let target: LocalPath
  private let permissions: UInt32
  /// Whether it has its name, or is gone.
  private let isSettled = Atomic(false)

  /// - Parameters:
  ///   - target: the name that the file will have; not one of a link.
  ///   - permissions: what the file will allow.
  init(for target: LocalPath, permissions: UInt32) throws(SystemError) {
    let directory = target.bytes.lastIndex(of: UInt8(ascii: "/")).map { target.bytes[...$0] } ?? []
    let mark = String(UInt64.random(in: .min ... .max), radix: 36)
    path = LocalPath(bytes: directory + Array(".formstream-\(mark)".utf8))
    self.target = target
    self.permissions = permissions
    removeOnSignal(path)
    descriptor = try OutputDescriptor(making: path)
  }

  func commit() throws(SystemError) {
    try descriptor.setPermissions(permissions)
    try rename(path, to: target)
    isSettled.store(true, ordering: .relaxed)
  }

  /// Removes it, where it has no name yet.
  func abandon() {
    if !isSettled.exchange(true, ordering: .relaxed) { remove(path) }
  }

  deinit { abandon() }
}
