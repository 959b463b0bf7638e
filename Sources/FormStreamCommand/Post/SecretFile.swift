import FormStreamMultipart

/// A file that holds secrets: nothing of it is ever shown.
struct SecretFile {
  /// More is no header, password or token.
  private static let maximumSize = 64 * 1024

  private let contents: [UInt8]
  private let path: Argument
  private let flag: String
  /// What the person should know of the file.
  let warnings: [String]

  /// - Parameter path: the file, or - for standard input.
  init(_ path: Argument, for flag: String) throws(Failure) {
    self.path = path
    self.flag = flag
    guard path.bytes != Array("-".utf8) else {
      do throws(SystemError) {
        contents = try contentsOfStandardInput(upTo: Self.maximumSize)
      } catch {
        throw Failure(
          .noInput,
          "Standard input can't be read for \(flag): \(error). Give it something with < or |.")
      }
      warnings = []
      guard contents.count <= Self.maximumSize else {
        throw .usage("Standard input has more than \(Self.maximumSize) bytes for \(flag).")
      }
      return
    }
    contents = try readSmallFile(path.path, for: flag, limit: Self.maximumSize)
    warnings =
      isReadableByOthers(path.path)
      ? [
        "Others can read the secrets in \"\(path.shown)\" (\(flag)): keep them out with chmod 600."
      ] : []
  }

  /// The lines that are not empty, and their numbers in the file, from 1.
  func lines() -> [(number: Int, bytes: [UInt8])] {
    contents.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated().map {
      ($0 + 1, $1.last == 0x0D ? Array($1.dropLast()) : Array($1))
    }
    .filter { !$0.1.isEmpty }
  }

  /// The line, where there is one and no more.
  func onlyLine() throws(Failure) -> [UInt8] {
    let lines = lines()
    guard lines.count == 1 else {
      let name =
        path.shown == "-" ? "Standard input for \(flag)" : "The file \"\(path.shown)\" of \(flag)"
      throw .usage(
        "\(name) has \(lines.count) lines: it must hold one.")
    }
    return lines[0].bytes
  }

  /// The line, where it is a token.
  func token() throws(Failure) -> String {
    let token = try onlyLine()
    // RFC 6750 §2.1: b64token, of these and "=" at its end.
    guard !token.contains(where: \.isBlank) else {
      throw .usage(
        "The token in the file of \(flag) has a blank in it or around it: the file must hold the token "
          + "alone, without a word such as Bearer before it.")
    }
    guard let text = String(validating: token, as: UTF8.self),
      token.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .usage("The file of \(flag) holds no token: it has other characters than ASCII's.")
    }
    return text
  }
}
