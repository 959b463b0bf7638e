import FormStreamTestSupport

@testable import FormStreamHTTP

/// The curl that is installed.
enum InstalledCurl {
  /// Whether it has the version with which docs/urls.md compares.
  static let is788 = (try? curl("--version").output.hasPrefix("curl 7.88.")) == true

  /// A URL, or a reference and its base.
  struct Input: Hashable {
    var base: String?
    let text: String
  }

  /// What libcurl sends for a URL.
  struct Answer: Equatable {
    let scheme: String
    let host: String
    let zone: String
    let port: String
    let target: String
  }

  /// What libcurl makes of URLs; nil for each that it refuses. They go through its URL parser twice: first as the URL of a
  /// `Location`, as `HTTPURL` did when it stood on this parser, and then as the URL of a request.
  static func answers(to inputs: [Input]) throws -> [Answer?] {
    let lines = inputs.map { "\(hex($0.base ?? "")) \(hex($0.text))" }
    return try python(program, Array(lines.joined(separator: "\n").utf8)).map { line in
      let fields = line.split(separator: " ", omittingEmptySubsequences: false).map(text)
      guard fields.count == 5 else { return nil }
      return Answer(scheme: fields[0], host: fields[1], zone: fields[2], port: fields[3], target: fields[4])
    }
  }

  private static func hex(_ text: String) -> String {
    let digits = Array("0123456789abcdef")
    return "_" + String(text.utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  private static func text(_ hex: Substring) -> String {
    let digits = hex.utf8.dropFirst().map { UInt8(ascii: "a") <= $0 ? $0 - 87 : $0 - 48 }
    let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let program = #"""
    import ctypes, sys

    curl, idn = ctypes.CDLL("libcurl.so.4"), ctypes.CDLL("libidn2.so.0")
    curl.curl_url.restype = ctypes.c_void_p
    curl.curl_url_cleanup.argtypes = [ctypes.c_void_p]
    curl.curl_url_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    curl.curl_url_get.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_uint]
    URL, SCHEME, USER, PASSWORD, HOST, PORT, PATH, QUERY, FRAGMENT, ZONE = 0, 1, 2, 3, 5, 6, 7, 8, 9, 10
    DEFAULT_PORT, NO_DEFAULT_PORT, UNKNOWN_SCHEME, DECODE, ENCODE, GUESS, SPACE = 1, 2, 8, 64, 128, 512, 2048

    def get(url, part, flags=0):
        text = ctypes.c_char_p()
        return text.value if curl.curl_url_get(url, part, ctypes.byref(text), flags) == 0 else None

    def set(url, part, text, flags=0):
        if curl.curl_url_set(url, part, text, flags) != 0:
            raise ValueError

    def encode_host(url):
        host = get(url, HOST) or b""
        if all(byte < 0x80 for byte in host):
            return
        for rules in 8, 4:
            encoded = ctypes.c_char_p()
            if idn.idn2_lookup_u8(host, ctypes.byref(encoded), rules) == 0 and encoded.value:
                if b"%" in encoded.value:
                    break
                return set(url, HOST, encoded.value)
        raise ValueError

    def answer(base, text):
        if not text or b"\0" in text:
            raise ValueError
        url, sent = curl.curl_url(), curl.curl_url()
        try:
            for part in [base, text] if base else [text]:
                set(url, URL, part, ENCODE | SPACE)
                encode_host(url)
            for part in USER, PASSWORD:
                if get(url, part) is not None and (get(url, part, DECODE) is None or b"\x7f" in get(url, part, DECODE)):
                    raise ValueError
            for part in USER, PASSWORD, FRAGMENT:
                set(url, part, None)
            query = get(url, QUERY) == b""
            set(sent, URL, get(url, URL, NO_DEFAULT_PORT), GUESS | UNKNOWN_SCHEME)
            if get(sent, SCHEME) not in (b"http", b"https"):
                raise ValueError
            target = get(sent, PATH, ENCODE)
            if get(sent, QUERY) is not None or query:
                target += b"?" + (get(sent, QUERY) or b"")
            return [get(sent, SCHEME), get(sent, HOST), get(sent, ZONE) or b"", get(sent, PORT, DEFAULT_PORT), target]
        finally:
            curl.curl_url_cleanup(url)
            curl.curl_url_cleanup(sent)

    for line in sys.stdin.read().splitlines():
        base, text = (bytes.fromhex(field[1:]) for field in line.split(" "))
        try:
            print(" ".join("_" + part.hex() for part in answer(base, text)))
        except ValueError:
            print("refused")
    """#
}
