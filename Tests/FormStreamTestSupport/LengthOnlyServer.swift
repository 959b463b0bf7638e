import FormStreamPlatform

/// A real server that takes only bodies whose length is announced: of other bodies it sees nothing. It responds with the
/// SHA-256 of what it received. It ends with this object.
public final class LengthOnlyServer: Sendable {
  /// The kind of server.
  public enum Kind: String, Sendable, CaseIterable {
    /// A program behind CGI, over HTTP/1.0: RFC 3875 §4.2 gives it the length, and no other end of the body.
    case cgi
    /// A WSGI application behind Python's own server, over HTTP/1.0.
    case wsgi
  }

  /// The URL, without a slash at its end.
  public let url: String
  /// The port on 127.0.0.1.
  public let port: UInt16
  private let program: RunningProgram
  private let place: TemporaryDirectory

  /// Starts a server on a free port, and waits until it accepts connections.
  public init(_ kind: Kind) throws {
    place = try TemporaryDirectory()
    // The CGI program runs as another user if the tests are run by root.
    try runSetup(place)
    program = try RunningProgram(
      program: "/usr/bin/env",
      rawArguments: ["python3", "-c", kind == .cgi ? cgiServer : wsgiServer].map {
        Array($0.utf8)
      }, in: place)
    let line = try program.line()
    guard let port = UInt16(line) else { throw NotStarted(description: "\(kind): \(line)") }
    self.port = port
    url = "http://127.0.0.1:\(port)" + (kind == .cgi ? "/cgi-bin/take.py" : "")
  }
}

private func runSetup(_ place: TemporaryDirectory) throws {
  let setup = try run(
    program: "/bin/sh",
    [
      "-c",
      "mkdir cgi-bin && cat > cgi-bin/take.py && chmod 755 . cgi-bin cgi-bin/take.py",
    ], standardInput: Array(cgiProgram.utf8), in: place)
  guard setup.exit == 0 else { throw NotStarted(description: setup.stderr) }
}

private let cgiProgram = """
  #!/usr/bin/env python3
  import hashlib, os, sys
  body = sys.stdin.buffer.read(int(os.environ.get("CONTENT_LENGTH") or 0))
  print("Content-Type: text/plain\\n\\n" + hashlib.sha256(body).hexdigest())

  """

private let cgiServer = """
  import http.server
  class Handler(http.server.CGIHTTPRequestHandler):
    have_fork = True
    def log_message(self, *_): pass
  server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
  print(server.server_port, flush=True)
  server.serve_forever()
  """

private let wsgiServer = """
  import hashlib
  from wsgiref.simple_server import make_server, WSGIRequestHandler
  class Handler(WSGIRequestHandler):
    def log_message(self, *_): pass
  def take(environment, start):
    body = environment["wsgi.input"].read(int(environment.get("CONTENT_LENGTH") or 0))
    start("200 OK", [("Content-Type", "text/plain")])
    return [hashlib.sha256(body).hexdigest().encode() + b"\\n"]
  server = make_server("127.0.0.1", 0, take, handler_class=Handler)
  print(server.server_port, flush=True)
  server.serve_forever()
  """
