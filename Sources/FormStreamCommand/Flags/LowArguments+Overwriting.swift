import FormStreamMultipart

extension LowArguments {
  /// Fails if an upload could replace a file that the receiver itself reads or writes: anybody who may upload chooses
  /// the names of files.
  func checkOverwriting() throws(Failure) {
    guard receiving.overwrites, let directory else { return }
    let place = canonical(directory.path)
    var own = files.inputs.map { (path: $0.path.path, use: $0.source) }
    if FileAtPath.standardOutput != nil { own.append(("/dev/stdout", "standard output")) }
    if FileAtPath.standardError != nil { own.append(("/dev/stderr", "standard error")) }
    for (path, use) in own {
      // A link is replaced itself, and what it leads to may be there, too.
      let name = canonical(
        path.directory.bytes.isEmpty ? "." : LocalPath(bytes: path.directory.bytes))
      guard
        name.components(below: place) != nil || name == place
          || canonical(path).components(below: place) != nil
      else { continue }
      throw .usage(
        "With --overwrite, an upload could replace the file of \(use ?? "a flag"), which is in the directory of --into: move it, or name another directory."
      )
    }
  }
}
