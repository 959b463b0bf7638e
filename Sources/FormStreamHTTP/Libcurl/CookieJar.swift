import CFormStreamCurl
import FormStreamPlatform

/// The cookies that all requests of a session share, on all its engines.
///
/// libcurl keeps the cookies, and locks them around each use.
final class CookieJar: @unchecked Sendable {
  let handle: UnsafeMutableRawPointer
  /// A lock for each kind of data that libcurl may lock. libcurl locks one kind while it holds the lock of another.
  private let locks: Locks

  private final class Locks: Sendable {
    /// Each event is signaled while its lock is free.
    let events: [AutoResetEvent] = (0..<Int(CURL_LOCK_DATA_LAST.rawValue)).map { _ in
      let event = AutoResetEvent()
      event.signal()
      return event
    }

    static func event(
      _ data: curl_lock_data, _ context: UnsafeMutableRawPointer?
    ) -> AutoResetEvent? {
      guard let context else { return nil }
      let events = Unmanaged<Locks>.fromOpaque(context).takeUnretainedValue().events
      let index = Int(data.rawValue)
      return events.indices.contains(index) ? events[index] : nil
    }
  }

  /// Nil if the policy keeps no cookies.
  ///
  /// C: `curl_share_init`, `curl_share_setopt`
  init?(_ policy: CookiePolicy) throws(TransferError) {
    guard case .session(let files, let withoutSessionCookies) = policy.kind else { return nil }
    guard CurlLibrary.isReady, let handle = curl_share_init() else { throw .libcurlNotStarted }
    self.handle = handle
    locks = Locks()
    let isReady =
      formstream_share_set_lock(handle) { _, data, _, context in
        Locks.event(data, context)?.wait(atMost: nil)
      } == CURLSHE_OK
      && formstream_share_set_unlock(handle) { _, data, context in
        Locks.event(data, context)?.signal()
      } == CURLSHE_OK
      && formstream_share_set_pointer(
        handle, CURLSHOPT_USERDATA, Unmanaged.passUnretained(locks).toOpaque()) == CURLSHE_OK
      && formstream_share_set_long(
        handle, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_COOKIE.rawValue)) == CURLSHE_OK
    guard isReady else { throw .libcurlNotStarted }
    guard !files.isEmpty else { return }
    let easy = try CurlEasy()
    easy.useCookies(of: self)
    for file in files {
      for line in try CookieFile.lines(of: file) { easy.set(CURLOPT_COOKIELIST, bytes: line) }
    }
    if withoutSessionCookies { easy.set(CURLOPT_COOKIELIST, "SESS") }
    guard easy.startFailure == nil else { throw .libcurlNotStarted }
  }

  /// C: `curl_share_cleanup`
  deinit {
    withExtendedLifetime(locks) { _ = curl_share_cleanup(handle) }
  }

  /// The cookies as lines of a cookie file, each as its bytes.
  ///
  /// C: `curl_easy_getinfo(CURLINFO_COOKIELIST)`
  func lines() throws(TransferError) -> [[UInt8]] {
    let easy = try CurlEasy()
    easy.useCookies(of: self)
    return easy.cookies.filter { !CookieFile.hasEnded($0) }
  }
}

extension CurlEasy {
  /// Makes the transfer use a jar, which lives as long as the transfer.
  func useCookies(of jar: CookieJar) {
    cookieJar = jar
    set(CURLOPT_SHARE, pointer: jar.handle)
    // No file is read: this only switches cookies on.
    set(CURLOPT_COOKIEFILE, "")
  }

  fileprivate var cookies: [[UInt8]] {
    var list: UnsafeMutablePointer<curl_slist>?
    guard formstream_easy_get_list(handle, CURLINFO_COOKIELIST, &list) == CURLE_OK else {
      return []
    }
    defer { curl_slist_free_all(list) }
    var lines: [[UInt8]] = []
    var item = list
    while let current = item {
      if let text = current.pointee.data {
        let bytes = sequence(first: text) { $0 + 1 }.lazy.map { UInt8(bitPattern: $0.pointee) }
        lines.append(Array(bytes.prefix { $0 != 0 }))
      }
      item = current.pointee.next
    }
    return lines
  }
}
