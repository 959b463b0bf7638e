import FormStreamMultipart

/// A program that uploads files in a form.
struct Contender: Sendable {
  let name: String
  /// The words that start it, for a URL and the paths of files.
  let words: @Sendable (_ url: String, _ files: [String]) -> [String]
  /// A command that succeeds if the program is installed; nil if it is.
  var test: [String]?

  /// The programs that `--with` knows.
  static let known = [
    formstream,
    Contender(
      name: "curl",
      words: { url, files in
        ["curl", "-q", "-sS", "--fail", "-o", "/dev/null"]
          + files.flatMap { ["-F", "file=@\"\(quoted($0))\";type=application/octet-stream"] } + [url]
      }, test: ["curl", "--version"]),
    python(
      "requests",
      """
      import requests, sys
      files = [('file', (name, open(name, 'rb'), 'application/octet-stream')) for name in sys.argv[2:]]
      requests.post(sys.argv[1], files=files).raise_for_status()
      """),
    python(
      "toolbelt",
      """
      import requests, sys
      from requests_toolbelt import MultipartEncoder
      body = MultipartEncoder([('file', (name, open(name, 'rb'), 'application/octet-stream')) for name in sys.argv[2:]])
      requests.post(sys.argv[1], data=body, headers={'Content-Type': body.content_type}).raise_for_status()
      """, needs: "requests_toolbelt"),
    python(
      "httpx",
      """
      import httpx, sys
      files = [('file', (name, open(name, 'rb'), 'application/octet-stream')) for name in sys.argv[2:]]
      httpx.post(sys.argv[1], files=files, timeout=None).raise_for_status()
      """),
    python(
      "aiohttp",
      """
      import aiohttp, asyncio, sys
      async def main():
          form = aiohttp.FormData()
          for name in sys.argv[2:]:
              form.add_field('file', open(name, 'rb'), filename=name, content_type='application/octet-stream')
          async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
              async with session.post(sys.argv[1], data=form) as response:
                  response.raise_for_status()
      asyncio.run(main())
      """),
  ]

  /// This program.
  static let formstream = Contender(
    name: "formstream",
    words: { url, files in
      [ownPath(), "post", "-q", "-o", "/dev/null", "--retry", "0", "--progress", "none"]
        + files.flatMap { ["--file", "file=\($0)", "--type", "application/octet-stream"] } + ["--", url]
    })

  private static func python(_ name: String, _ script: String, needs module: String? = nil) -> Contender {
    Contender(
      name: name, words: { url, files in ["python3", "-c", "\(notFromHere)\n\(script)", url] + files },
      test: ["python3", "-c", "\(notFromHere)\nimport \(module ?? name)"])
  }

  /// With `-c`, Python looks for modules in the working directory first: a file of the user, such as `h2.py`, would be run.
  /// `-P` does the same, but is not known before Python 3.11, and `-I` leaves out modules that the user has installed for himself.
  private static let notFromHere = "import sys; sys.path = [path for path in sys.path if path]"

  /// A command in which `{url}` and `{file}` stand for what is uploaded. A word with `{file}` is repeated for each file.
  static func command(_ words: [String]) -> Contender {
    Contender(
      name: visible(words.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""),
      words: { url, files in
        words.flatMap { word in
          let word = word.replacing("{url}", with: url)
          return word.contains("{file}") ? files.map { word.replacing("{file}", with: $0) } : [word]
        }
      })
  }
}

/// A path between quotation marks in curl's `-F`.
private func quoted(_ path: String) -> String {
  path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
}
