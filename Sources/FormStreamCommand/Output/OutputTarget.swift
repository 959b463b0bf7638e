import FormStreamMultipart

/// Where a command writes its result.
enum OutputTarget {
  case standardOutput
  case path(LocalPath)
}

extension LowArguments {
  /// What `-o` names; nil if it was not given.
  func outputTarget() throws(Failure) -> OutputTarget? {
    guard let output else { return nil }
    if output.isDash { return .standardOutput }
    guard !output.bytes.isEmpty, !output.bytes.contains(0) else {
      throw .usage("-o needs the name of a file, or - for standard output.")
    }
    return .path(output.path)
  }
}
