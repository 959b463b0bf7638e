import FormStreamMultipart

extension UploadPage {
  /// The page with the form. It names the owner of the machine and the limits.
  package static func html(for configuration: Receiver.Configuration) -> String {
    let page = configuration.page
    let owner = page.owner.map {
      "<p id=\"owner\">They go to <b><bdi>\(escaped($0))</bdi></b>.</p>\n"
    }
    let main = filled(
      form,
      [
        "owner": owner ?? "", "limit": limitAttribute(configuration.limits),
        "resumable": resumableAttribute(configuration.resumableUploads),
        "folder": page.takesDirectories ? folder : "",
        "limits": limitText(configuration.limits), "script": script,
      ])
    return self.page(title: "Send files", main: main)
  }

  /// The attribute that tells the script the limit, so that it does not send a file that is certainly too large.
  private static func limitAttribute(_ limits: Receiver.Limits) -> String {
    let limit = [limits.body, limits.form.partBytes].compactMap(\.self).min()
    return limit.map { " data-limit=\"\($0)\"" } ?? ""
  }

  /// The attribute that tells the script from which size on a file is sent as a resumable upload; none if no upload is resumable.
  private static func resumableAttribute(_ uploads: Receiver.ResumableUploads?) -> String {
    let least = uploads.map { max($0.bounded.minimumSize, 1) }
    return least.map { " data-resumable=\"\($0)\"" } ?? ""
  }

  /// The sentences about the limits. The limit of a request's body includes names and types. The script sends each file by
  /// itself, and changes the text "all files together" accordingly.
  private static func limitText(_ limits: Receiver.Limits) -> String {
    var sentences: [String] = []
    if let limit = limits.form.partBytes {
      sentences.append("A file may have at most \(byteCount(limit)).")
    }
    if let limit = limits.body {
      sentences.append(
        "At most \(byteCount(limit)) are accepted for <span id=\"each\">all files together</span>, names included."
      )
    }
    return sentences.isEmpty ? "Files may have any size." : sentences.joined(separator: " ")
  }
}
