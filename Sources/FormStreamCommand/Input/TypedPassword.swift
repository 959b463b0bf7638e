import FormStreamPlatform

/// Asks for a password on the terminal, and fails if standard input is not a terminal.
///
/// - Parameters:
///   - owner: whom the password is for.
///   - origin: the flag that names the user without a password, for messages.
func typedPassword(
  of user: String, for owner: String, _ origin: String
) throws(Failure) -> String {
  guard isTerminal(.input) else {
    throw .usage(
      "\(origin) has no colon in it: write USER:PASS, or put it into a file for --user-file or --proxy-user-file. The "
        + "password is asked for only if standard input is a terminal.")
  }
  StandardError.ask("Password of \(user) for \(owner): ")
  let line: [UInt8]
  do throws(SystemError) {
    line = try hiddenLine(upTo: 4096)
  } catch {
    throw Failure(
      .noInput, "The password can't be read from the terminal: \(error). Use --user-file.")
  }
  StandardError.write("")
  guard let password = String(validating: line, as: UTF8.self), !line.isEmpty,
    line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
  else {
    throw .usage(
      "No password was typed, or it has a control character in it: --user-file reads USER:PASS from a file."
    )
  }
  return password
}
