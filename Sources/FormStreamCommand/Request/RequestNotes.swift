import FormStreamHTTP
import FormStreamJSON
import FormStreamPlatform

extension [PartArguments] {
  /// Notes about parts of a form that may not be what the user meant.
  var notes: [String] {
    let parts = flatMap(\.withDescendants)
    return parts.compactMap(\.noteOnMissingMark) + parts.compactMap(\.noteOnList)
  }
}

extension PartArguments {
  /// The note about a value that is the name of a file: the @ before it may be missing.
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

extension PlannedBody {
  /// Notes about a request with this body that may not be what the user meant.
  func notes(
    _ form: FormArguments, _ arguments: RequestArguments, for verb: Verb
  ) -> [String] {
    var notes = form.parts.notes
    let method = arguments.method?.text.flatMap(HTTPMethod.init(parsing:)) ?? .post
    if case .none = self, verb != .get, !arguments.putsDataIntoURL, !arguments.asksForHead,
      method.announcesEmptyBody
    {
      notes.append(
        "An empty body is sent: -F adds a part, -T sends a file, -d and --json-body send data.")
    }
    if let note = arguments.json.noteOnJSON { notes.append(note) }
    if !arguments.session.tls.verifiesServer {
      notes.append(
        arguments.pinnedKeys == nil
          ? "--insecure: the server's identity is not checked, so others may read and change what is sent."
          : "--insecure: the server's certificate is not checked, only that it has the key of --pinnedpubkey."
      )
    }
    return notes
  }
}

extension [Argument] {
  /// The note that the data of `--json-body` is not JSON; nil if it is JSON, or if it is read only while it is sent.
  fileprivate var noteOnJSON: String? {
    let pieces = map { DataOrFile($0, of: "--json-body") }
    guard let first, pieces.allSatisfy({ $0.file == nil }),
      let bytes = try? pieces.flatMap({ try $0.contents() })
    else { return nil }
    do {
      _ = try JSONValue(parsing: bytes)
      return nil
    } catch {
      return
        "The data of \(first.flag ?? "--json-body") is not JSON (\(error)), and is sent as it is: check the quotes of the shell."
    }
  }
}
