import FormStreamMultipart
import FormStreamPlatform

/// A file that contains secrets. No message ever shows its contents.
struct SecretFile {
  /// A larger file is a mistake.
  private static let maximumSize = 64 * 1024

  private let contents: [UInt8]
  private let path: Argument
  private let flag: String
  /// Warnings about who can read the file.
  let warnings: [String]

  /// - Parameter path: the file, or - for standard input.
  init(_ path: Argument, for flag: String) throws(Failure) {
    self.path = path
    self.flag = path.flag ?? flag
    guard !path.isDash else {
      do throws(SystemError) {
        contents = try contentsOfStandardInput(upTo: Self.maximumSize)
      } catch {
        throw Failure(
          .noInput,
          "Standard input can't be read for \(flag): \(error). Redirect it with < or |.")
      }
      warnings = []
      guard contents.count <= Self.maximumSize else {
        throw .usage("Standard input has more than \(Self.maximumSize) bytes for \(flag).")
      }
      return
    }
    // Messages don't show the path: somebody may have typed the secret itself in place of a path. After an @, the word
    // can only be a path.
    let isMarked = path.flag.map { ["-H", "--header"].contains($0) } ?? false
    contents = try readSmallFile(
      path.path, for: flag, limit: Self.maximumSize,
      subject: isMarked
        ? "The file \"\(path.shown)\" of \(path.named(flag))" : "The file of \(path.named(flag))")
    warnings =
      isReadableByOthers(path.path)
      ? [
        "Other users can read the secrets in \"\(path.shown)\" (\(flag)): prevent that with chmod 600."
      ] : []
  }

  /// The lines that are not empty, each with its number in the file, from 1.
  func lines() -> [(number: Int, bytes: [UInt8])] {
    contents.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated().map {
      ($0 + 1, $1.last == 0x0D ? Array($1.dropLast()) : Array($1))
    }
    .filter { !$0.1.isEmpty }
  }

  /// The complete file; nil if it is not UTF-8.
  var text: String? { String(validating: contents, as: UTF8.self) }

  /// The only line of the file.
  func onlyLine() throws(Failure) -> [UInt8] {
    let lines = lines()
    guard lines.count == 1 else {
      let name =
        path.isDash ? "Standard input for \(flag)" : "The file \"\(path.shown)\" of \(flag)"
      throw .usage(
        "\(name) has \(counted(lines.count, "line", "lines")): it must have exactly one.")
    }
    return lines[0].bytes
  }

  /// The only line of the file, checked to be a token.
  func token() throws(Failure) -> String {
    let token = try onlyLine()
    // RFC 6750 §2.1: a b64token has no blanks.
    guard !token.contains(where: \.isBlank) else {
      throw .usage(
        "The token in the file of \(flag) has a blank in it or around it: the file must hold only the "
          + "token, without a word such as Bearer before it.")
    }
    guard let text = String(validating: token, as: UTF8.self),
      token.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw .usage("The file of \(flag) holds no token: it has characters that are not ASCII.")
    }
    return text
  }
}
