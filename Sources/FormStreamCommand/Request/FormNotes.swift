import FormStreamPlatform

extension [PartArguments] {
  /// What may not be meant in the parts of a form.
  var notes: [String] {
    let parts = flatMap(\.withDescendants)
    return parts.compactMap(\.noteOnMissingMark) + parts.compactMap(\.noteOnList)
  }
}

extension PartArguments {
  /// A value that is the name of a file: its mark is missing.
  fileprivate var noteOnMissingMark: String? {
    guard case .value(let value) = content, spelling == "-F", isRegularFile(value.path) else {
      return nil
    }
    return
      "The value of part \"\(name)\" is the name of a file, and is sent as text: write -F \(name)=@FILE to send the file."
  }

  /// RFC 7578 §4.3: several files are to be sent "by supplying each file in a separate part but all with the same "name"
  /// parameter", and multipart/mixed in a form is deprecated.
  fileprivate var noteOnList: String? {
    guard children.contains(where: \.isListed) else { return nil }
    return
      "The \(counted(children.count, "file", "files")) of part \"\(name)\" are sent as curl sends a list: in one part, of multipart/mixed. Many servers "
      + "read only a part for each file: repeat -F for that."
  }
}
