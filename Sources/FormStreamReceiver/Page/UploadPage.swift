import FormStreamDigest
import FormStreamPlatform

/// The page for people who upload with a browser: one document without any other assets.
///
/// Without JavaScript it is a plain form, and the server responds with a page (``response(parts:failure:)``). With
/// JavaScript each file is sent by itself, and counts as arrived only when the server's response says so. Large files are
/// sent as resumable uploads.
///
/// The files beside this one are embedded at build time: `frame.html` surrounds both pages, `upload.html` is the form,
/// with `folder.html` if folders are accepted, and `page.css` and the scripts are inserted into them.
package enum UploadPage {
  /// The Content-Security-Policy of the pages. The pages may run `script`, use `style`, and send requests to their own server.
  /// Text in a file name can do none of this. If the digests of script and style can't be computed, script and style are not
  /// allowed. The form still works without them.
  package static let contentSecurityPolicy = """
    default-src 'none'; \(hashSource("style-src", style))\(hashSource("script-src", script))\
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
    """

  /// CSP 3 §6.7.3.3: a hash-source matches if it is the digest of the element's text in UTF-8, which is everything
  /// between the tags.
  private static func hashSource(_ directive: String, _ text: String) -> String {
    do {
      return "\(directive) 'sha256-\(base64(try SHA256.digest(of: "\n\(text)").bytes))'; "
    } catch {
      return ""
    }
  }

  /// A complete document.
  static func page(title: String, main: String) -> String {
    filled(frame, ["title": title, "style": style, "main": main])
  }

  /// Replaces each `{{name}}` by its value. The values must be in the order of their placeholders in the template. The
  /// values are not searched for placeholders, so text from a client can't insert anything.
  static func filled(
    _ template: String, _ values: KeyValuePairs<String, String>
  ) -> String {
    var result = ""
    var rest = template[...]
    for (name, value) in values {
      // Templates and names are both part of this module; data from outside is only in the values.
      guard let placeholder = rest.firstRange(of: "{{\(name)}}") else {
        preconditionFailure("The template has no {{\(name)}} here.")
      }
      result += rest[..<placeholder.lowerBound] + value
      rest = rest[placeholder.upperBound...]
    }
    return result + rest
  }

  private static let frame = text(PackageResources.frame_html)
  private static let style = text(PackageResources.page_css)
  static let script =
    text(PackageResources.upload_js) + text(PackageResources.resumable_js)
    + text(PackageResources.kept_js)
  static let form = text(PackageResources.upload_html)
  static let folder = text(PackageResources.folder_html)

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
