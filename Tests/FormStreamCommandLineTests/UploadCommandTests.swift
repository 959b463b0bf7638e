import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `--resumable` of `post` and `put`, as scripts use it.
@Suite struct UploadCommandTests {
  /// The body was sent twice, with exit code 0, without a key and without `--retry`. In a second run, too.
  @Test(arguments: ["http", "http-create", "tus"], [404, 410])
  func `a POST whose response was lost is not sent again`(_ way: String, _ status: Int) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      let location = ("Location", "/u")
      switch (request.method, way) {
      case ("HEAD", _): return [.respond(status)]
      case ("POST", "http"):
        return [.informational(104, headers: [location, ("Upload-Draft-Interop-Version", "8")]), .readBody, .reset]
      case ("POST", _): return [.readBody, .respond(201, headers: [location])]
      default: return [.readBody, .reset]
      }
    }
    for _ in 0..<2 {
      let result = try formstream(
        "post", "--resumable=\(way)", "--resume-file", "resume", "--retry-delay", "0.01", "-d", "important", server.url,
        in: place)
      #expect(result.exit == 3, "\(result.stderr)")
    }
    let complete = server.requests.filter { $0.bodyCount == 9 && $0.bodyIsComplete }
    #expect(complete.count == 1, "\(server.requests.map(\.method))")
  }

  /// A record said that the upload was not carried out, because the disk had no room for another one.
  @Test(.limitsFileSize) func `a step that can't be noted is not taken`() throws {
    let place = try TemporaryDirectory()
    let kept = Guarded(0)
    let server = try ScriptedServer { request in
      if request.method == "POST" { return [.readBody, .respond(201, headers: [("Location", "/u")])] }
      if request.method == "HEAD" { return [.respond(204, headers: [("Upload-Offset", "\(kept.withLock(\.self))")])] }
      return [
        .readBody,
        .decide { request in
          let offset = kept.withLock {
            $0 += request.bodyCount
            return $0
          }
          return offset == 1000 ? [.reset] : [.respond(204, headers: [("Upload-Offset", "\(offset)")])]
        },
      ]
    }
    try place.write("body", [UInt8](repeating: 65, count: 1000))
    // The resume file gets no more than 1,024 bytes.
    let line = "$F post --resumable=tus --piece-size 50 --resume-file resume --retry 0 -T body \(server.url)/"
    let full = try shell("trap '' XFSZ; ulimit -f 1; \(line)", in: place)
    #expect(full.exit == 75 && full.stderr.contains("So the step was not taken"), "\(full.stderr)")
    #expect((1..<1000).contains(kept.withLock(\.self)))
    // With room, the upload goes on, and its end is in doubt.
    let end = try shell(line, in: place)
    #expect(end.exit == 3 && kept.withLock(\.self) == 1000, "\(end.stderr)")
    #expect(try shell("tail -n 1 resume", in: place).output.contains(#""in_doubt":true"#))
  }

  /// The upload had been created by then, and the message said that nothing was sent.
  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"), arguments: ["tus", "http-create"])
  func `without room for its first line, a resume file prevents the creation of an upload`(_ way: String) throws {
    try SmallDisk.mounted(size: "64k", files: 100) { disk in
      let server = try ScriptedServer(script: tusSteps)
      // Nothing but names finds room there.
      _ = try shell("head -c 1M /dev/zero > '\(disk)/fill'")
      let line = "$F post --resumable=\(way) --resume-file '\(disk)/resume' -d abc \(server.url)/; echo $?; ls '\(disk)'"
      let full = try shell(line)
      #expect(full.output == "74\nfill\n" && full.stderr.contains("Nothing was sent."), "\(full.output) \(full.stderr)")
      #expect(server.requests.map(\.method) == [])
    }
  }

  /// Another upload was created, and then there was no room to note it.
  @Test(.limitsFileSize) func `without room in a resume file with an earlier upload, no other one is created`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": [.respond(404)]
      default: [.readBody, .reset]
      }
    }
    let name = String(repeating: "n", count: 1100)
    let line = "$F post --resumable=tus --piece-size 1 --resume-file resume --retry-delay 0.01 -d abc \(server.url)/\(name)"
    let broken = try shell("\(line) --retry 0", in: place)
    #expect(broken.exit == 75, "\(broken.stderr)")
    // The server no longer has the upload, and the resume file has more than the 1,024 bytes that it may have.
    let full = try shell("trap '' XFSZ; ulimit -f 1; \(line) --retry 1", in: place)
    #expect(full.exit == 75 && full.stderr.contains("So the step was not taken"), "\(full.stderr)")
    #expect(server.requests.map(\.method) == ["POST", "PATCH", "HEAD"])
  }

  /// The upload is created by then, and nothing of it was sent.
  @Test(.limitsFileSize) func `without room for its second line, a resume file asks for another run`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer(script: tusSteps)
    let name = String(repeating: "n", count: 600)
    // The resume file gets no more than 1,024 bytes, and its first line has more than 900.
    let line = "$F post --resumable=tus --resume-file resume --retry 0 -d abc \(server.url)/\(name)"
    let full = try shell("trap '' XFSZ; ulimit -f 1; \(line)", in: place)
    #expect(full.exit == 75 && full.stderr.contains("So the step was not taken"), "\(full.stderr)")
    #expect(server.requests.map(\.method) == ["POST"])
    let end = try shell(line, in: place)
    #expect(end.exit == 0, "\(end.stderr)")
    #expect(server.requests.map(\.method).suffix(2) == ["POST", "PATCH"])
  }

  /// Messages, `-v` and records showed the URLs of uploads, which let others change them.
  @Test(arguments: ["http", "http-create", "tus"], ["-v", "--json", "-s"])
  func `the URL of an upload is shown nowhere`(_ way: String, _ flag: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      let location = ("Location", "/canary-of-upload")
      switch (request.method, way) {
      case ("POST", "http"):
        return [.informational(104, headers: [location, ("Upload-Draft-Interop-Version", "8")]), .readBody, .reset]
      case ("POST", _): return [.readBody, .respond(201, headers: [location])]
      case ("HEAD", _): return [.respond(204, headers: [("Upload-Offset", "0"), ("Upload-Complete", "?0")])]
      default: return [.readBody, .respond(409, headers: [location])]
      }
    }
    try place.write("url", "\(server.url)/canary-of-url\n")
    var shown = ""
    for (url, body) in [("url", "a"), ("url", "a"), ("url", "b")] {
      let result = try formstream(
        "post", "--resumable=\(way)", "--resume-file", "resume", "--retry", "1", "--retry-delay", "0.01", flag, "--url-file",
        url, "-d", body, in: place)
      #expect(result.exit != 0)
      shown += result.output + result.stderr
    }
    let other = try formstream(
      "post", "--resumable=\(way)", "--resume-file", "resume", flag, "-d", "a", "\(server.url)/other", in: place)
    shown += other.output + other.stderr
    #expect(!shown.contains("canary"), "\(shown)")
    #expect(server.requests.contains { $0.target == "/canary-of-upload" })
  }

  /// A record showed what else a server names when an upload is created.
  @Test(arguments: [200, 202, 303, 409, 500], ["-v", "--json", "-s"])
  func `a location is hidden, whatever the creation of an upload ends with`(_ status: Int, _ flag: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in [.readBody, .respond(status, headers: [("Location", "/canary-of-upload")])] }
    for way in ["tus", "http-create"] {
      let result = try formstream(
        "post", "--resumable=\(way)", "--resume-file", "resume", "--retry", "0", flag, "-d", "a", server.url, in: place)
      #expect(result.exit != 0 && !"\(result.output) \(result.stderr)".contains("canary"), "\(result.output) \(result.stderr)")
    }
  }

  /// Nothing else names a file that a tus server has stored.
  @Test func `a script that asks for the URL of an upload gets it`() throws {
    let server = try ScriptedServer(script: tusSteps)
    let result = try formstream("post", "--resumable=tus", "-w", "%{url_effective}", "-d", "abc", "\(server.url)/tus")
    #expect((result.exit, result.output) == (0, "\(server.url)/tus/1"), "\(result.stderr)")
  }

  @Test func `flags that an upload can't keep to are refused before it begins`() throws {
    let place = try TemporaryDirectory()
    try place.write("a", "one")
    try place.write("b", "two")
    let server = try ScriptedServer { _ in .good() }
    let lines: [([String], Int32, String)] = [
      (["put", "--resumable", "--resume-file", "r", "-T", "a", "-T", "b"], 64, "--resume-file keeps one upload"),
      (["post", "--resumable=tus", "--content-digest", "-T", "a"], 64, "--content-digest"),
      (["post", "--resumable=http", "--upload-metadata", "a=b", "-T", "a"], 64, "--upload-metadata"),
      (["post", "--resumable=http-create", "--upload-metadata", "a=b", "-T", "a"], 64, "--upload-metadata"),
      (["post", "--resumable=http", "--piece-size", "2", "-T", "a"], 64, "--piece-size"),
    ]
    for (words, exit, says) in lines {
      let result = try run("formstream", words + ["\(server.url)/"], in: place)
      #expect(result.exit == exit && result.stderr.contains(says), "\(words): \(result.stderr)")
    }
    #expect(server.requests.count == 0)
  }

  /// It sent the complete body in one request.
  @Test func `a server that knows no protocol gets no more than a piece`() throws {
    let server = try ScriptedServer { _ in [.readBody, .respond(405)] }
    let result = try formstream("post", "--resumable", "--piece-size", "2", "-d", "abc", server.url)
    #expect(result.exit == 1 && result.stderr.contains("--piece-size"), "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["OPTIONS"])
    #expect(try formstream("post", "--resumable", "--piece-size", "2", "-d", "ab", server.url).exit == 1)
    #expect(server.requests.map(\.method) == ["OPTIONS", "OPTIONS", "POST"])
  }

  /// It asked for the limits of a file, and was told that the form is too long for an upload that goes on.
  @Test func `a form has the limits of a form`() throws {
    let receiver = try Receiving("--into", "kept", "--limit", "part-bytes=1500000")
    let line =
      "head -c 1200000 /dev/zero > a; cp a b; $F post --resumable --piece-size 1000000 -F f=@a -F g=@b \(receiver.url)/"
    let sent = try receiver.shell(line)
    #expect(sent.exit == 0, "\(sent.stderr)")
    // A file of that size is none that the receiver takes.
    let file = try receiver.shell("cat b >> a; $F post --resumable --piece-size 1000000 -T a \(receiver.url)/")
    #expect(file.exit == 1 && file.stderr.contains("1500000"), "\(file.stderr)")
    try receiver.end()
  }

  /// The metadata were dropped without a word.
  @Test func `a server that doesn't know tus gets nothing if there are metadata`() throws {
    for headers in [[("Upload-Limit", "max-size=1000")], []] {
      let server = try ScriptedServer { _ in [.readBody, .respond(204, headers: headers)] }
      let result = try formstream("post", "--resumable", "--upload-metadata", "a=b", "-d", "abc", server.url)
      #expect(result.exit == 1 && result.stderr.contains("--upload-metadata"), "\(result.stderr)")
      #expect(server.requests.map(\.method) == ["OPTIONS"])
    }
    let tus = try ScriptedServer { request in
      request.method == "OPTIONS" ? [.respond(204, headers: [("Tus-Version", "1.0.0")])] : tusSteps(request)
    }
    let result = try formstream("post", "--resumable", "--upload-metadata", "a=b", "-d", "abc", tus.url)
    #expect(result.exit == 0 && tus.requests.contains { $0.header("Upload-Metadata")?.contains("a Yg==") == true })
  }

  /// They were still dropped if the body was empty: nothing was asked.
  @Test func `metadata of an empty file are told, or nothing is sent`() throws {
    let place = try TemporaryDirectory()
    try place.write("empty", "")
    let words = ["post", "--resumable", "--upload-metadata", "a=b", "-T", "empty"]
    let unknowing = try ScriptedServer { _ in [.readBody, .respond(405)] }
    let refused = try run("formstream", words + [unknowing.url], in: place)
    #expect(refused.exit == 1 && refused.stderr.contains("--upload-metadata"), "\(refused.stderr)")
    #expect(unknowing.requests.map(\.method) == ["OPTIONS"])
    let tus = try ScriptedServer { request in
      request.method == "OPTIONS" ? [.respond(204, headers: [("Tus-Version", "1.0.0")])] : tusSteps(request)
    }
    let sent = try run("formstream", words + [tus.url], in: place)
    #expect(
      sent.exit == 0 && tus.requests.contains { $0.header("Upload-Metadata")?.contains("a Yg==") == true }, "\(sent.stderr)")
  }

  /// It said that the server doesn't name tus.
  @Test func `why metadata can't be told is true if the server knows tus`() throws {
    let tus = try ScriptedServer { _ in [.respond(204, headers: [("Tus-Version", "1.0.0"), ("Tus-Max-Size", "2")])] }
    let words = ["post", "--resumable", "--upload-metadata", "a=b", "-d", "abc"]
    let long = try run("formstream", words + [tus.url])
    #expect(long.exit == 1 && long.stderr.contains("at most 2 bytes"), "\(long.stderr)")
    #expect(!long.stderr.contains("doesn't name tus"), "\(long.stderr)")
    let able = try ScriptedServer { _ in [.respond(204, headers: [("Tus-Version", "1.0.0")])] }
    let digest = try run("formstream", words + ["--content-digest", able.url])
    #expect(digest.exit == 1 && digest.stderr.contains("--content-digest"), "\(digest.stderr)")
    #expect(!digest.stderr.contains("doesn't name tus"), "\(digest.stderr)")
    #expect((tus.requests + able.requests).map(\.method) == ["OPTIONS", "OPTIONS"])
  }

  /// A limit that only the response to OPTIONS names was forgotten.
  @Test func `a limit for pieces that OPTIONS names is kept to`() throws {
    let kept = Guarded(0)
    let server = try ScriptedServer { request in
      switch request.method {
      case "OPTIONS": [.respond(204, headers: [("Upload-Limit", "max-append-size=4")])]
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      default:
        [
          .readBody,
          .decide { request in
            let count = kept.withLock {
              $0 += request.bodyCount
              return $0
            }
            return [.respond(204, headers: [("Upload-Complete", count == 10 ? "?1" : "?0")])]
          },
        ]
      }
    }
    let result = try formstream("post", "--resumable", "-d", "0123456789", server.url)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.filter { $0.method == "PATCH" }.map(\.bodyCount) == [4, 4, 2])
  }

  /// It showed one POST with the body.
  @Test func `--dry-run shows the requests of an upload that is created first`() throws {
    let post = try formstream("post", "--resumable=tus", "--dry-run", "-A", "me", "-d", "abc", "http://h/x")
    #expect(
      post.output.hasPrefix(
        """
        POST http://h/x
        User-Agent: me
        Tus-Resumable: 1.0.0
        Upload-Length: 3
        Upload-Metadata: filetype YXBwbGljYXRpb24veC13d3ctZm9ybS11cmxlbmNvZGVk
        Content-Length: 0

        PATCH the URL of the upload, which the server names
        User-Agent: me
        Tus-Resumable: 1.0.0
        Upload-Offset: 0
        Content-Type: application/offset+octet-stream
        Content-Length: 3

        """), "\(post.output)")
    let put = try formstream("put", "--resumable=tus", "--dry-run", "-A", "me", "-d", "abc", "http://h/x")
    #expect(put.output.hasPrefix("HEAD http://h/x\n") && put.output.contains("\n\nPATCH http://h/x\n"), "\(put.output)")
  }

  /// It showed the request without what it offers.
  @Test func `--dry-run shows what an upload offers, and the question before it`() throws {
    let offer = """
      POST http://h/x
      User-Agent: me
      Upload-Draft-Interop-Version: 8
      Upload-Complete: ?1
      Upload-Length: 3
      Content-Type: application/x-www-form-urlencoded
      Content-Length: 3

      """
    let http = try formstream("post", "--resumable=http", "--dry-run", "-A", "me", "-d", "abc", "http://h/x")
    #expect(http.output.hasPrefix(offer), "\(http.output)")
    let asking = try formstream(
      "post", "--resumable", "--dry-run", "-A", "me", "--idempotency-key", "k", "-d", "abc", "http://h/x")
    let question =
      "OPTIONS http://h/x\nUser-Agent: me\n\nUnless the server names a protocol that creates uploads first:\nPOST http"
    #expect(asking.output.hasPrefix(question) && asking.output.contains("Upload-Complete: ?1"), "\(asking.output)")
    // It showed a request that isn't sent.
    for (words, reason) in [(["--upload-metadata", "a=b"], "--upload-metadata"), (["--piece-size", "2"], "--piece-size 2")] {
      for body in words[0] == "--piece-size" ? ["abc"] : ["abc", ""] {
        let bound = try run("formstream", ["post", "--resumable", "--dry-run", "-d", body] + words + ["http://h/x"]).output
        #expect(bound.hasPrefix("OPTIONS http://h/x\n") && !bound.contains("POST"), "\(bound)")
        #expect(bound.contains("Otherwise nothing is sent") && bound.contains(reason), "\(bound)")
      }
    }
    let fitting = try formstream("post", "--resumable", "--dry-run", "--piece-size", "3", "-d", "abc", "http://h/x").output
    #expect(fitting.contains("\nPOST http://h/x\n"), "\(fitting)")
    // Nothing is offered for what can't go on.
    #expect(try !formstream("post", "--resumable", "--dry-run", "-d", "", "http://h/x").output.contains("Upload-"))
  }

  /// The upload was sent without resumption, and nothing said so.
  @Test(arguments: ["post -T body", "put -T body", "send --put"])
  func `a digest that keeps an upload from going on is said`(_ verb: String) throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      request.method == "OPTIONS" ? [.respond(204, headers: [("Tus-Version", "1.0.0")])] : [.readBody, .respond(204)]
    }
    try place.write("body", "abc")
    let files = verb.hasPrefix("send") ? "body body2" : ""
    let target = verb.hasPrefix("send") ? "'\(server.url)/{name}'" : "\(server.url)/a"
    let line = "cp body body2; $F \(verb) --resumable --content-digest"
    let said = try shell("\(line) \(target) \(files)", in: place)
    #expect(said.exit == 0, "\(said.stderr)")
    #expect(said.stderr.split(separator: "\n").count { $0.contains("can't go on after a break") } == 1, "\(said.stderr)")
    #expect(server.requests.allSatisfy { $0.method == "OPTIONS" || $0.header("Content-Digest") != nil })
    let quiet = try shell("\(line) -q \(target) \(files)", in: place)
    #expect(quiet.exit == 0 && !quiet.stderr.contains("break"), "\(quiet.stderr)")
  }

  /// "The server has named no place to ask", about a server that had named one, and has answered 404 there.
  @Test func `a run says of a lost upload that there is no place to ask`() throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { request in
      switch request.method {
      case "HEAD": [.respond(404)]
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      default: [.readBody, .reset]
      }
    }
    var last = ""
    for _ in 0..<2 {
      let result = try formstream(
        "post", "--resumable=http-create", "--resume-file", "resume", "--retry", "1", "--retry-delay", "0.01", "-d", "a",
        server.url, in: place)
      #expect(result.exit == 3)
      last = result.stderr
    }
    #expect(!last.contains("the server has named no place"), "\(last)")
    #expect(last.contains("it has named no place to ask, or no longer keeps the upload"), "\(last)")
  }
}
