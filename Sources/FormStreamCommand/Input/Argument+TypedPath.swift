import FormStreamPlatform

extension Argument {
  /// Fails if a path does not exist and is written in a way that can't work: it begins with `~/`, which the shell
  /// replaces only at the start of a word, or it is a Windows path.
  func checkTypedPath(for use: String) throws(Failure) {
    guard let reason = reasonWhyNotFound, !exists(path) else { return }
    throw Failure(.noInput, "The file \"\(shown)\" of \(use) does not exist: \(reason)")
  }

  private var reasonWhyNotFound: String? {
    if bytes.starts(with: "~/".utf8) {
      return
        "the shell puts the home directory in place of ~ only at the start of a word; write $HOME there."
    }
    return isPathOfWindows
      ? "it is a path of Windows; under WSL, C:\\ is /mnt/c/, and \\ in a path is /." : nil
  }

  /// Whether the path begins with a letter, a colon and a slash or a backslash, and is not a URL.
  var isPathOfWindows: Bool {
    guard bytes.count > 2, bytes[0].isASCIILetterOrDigit, !bytes[0].isASCIIDigit,
      bytes[1] == UInt8(ascii: ":")
    else { return false }
    return bytes[2] == UInt8(ascii: "\\")
      || bytes[2] == UInt8(ascii: "/") && bytes.dropFirst(3).first != UInt8(ascii: "/")
  }
}
