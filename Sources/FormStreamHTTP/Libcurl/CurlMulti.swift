import CFormStreamCurl

/// The transfers that libcurl runs on one thread.
///
/// Everything is called on the engine's thread.
final class CurlMulti: @unchecked Sendable {
  private let handle: UnsafeMutableRawPointer
  private let sockets: OpenSockets
  private var running: [UnsafeMutableRawPointer: CurlEasy] = [:]

  /// - Parameters:
  ///   - maximumHostConnections: the maximum number of connections to one host, idle ones included; no limit if nil.
  ///   - willClose: called with a socket before it is closed, while received bytes can still be read.
  ///
  /// C: `curl_multi_init`
  init(
    maximumIdleConnections: Int, maximumHostConnections: Int?, willClose: @escaping (CInt) -> Void
  ) throws(TransferError) {
    guard CurlLibrary.isReady, let handle = curl_multi_init() else { throw .libcurlNotStarted }
    self.handle = handle
    sockets = OpenSockets(willClose)
    _ = formstream_multi_set_long(handle, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
    setMaximumHostConnections(maximumHostConnections ?? 0)
  }

  /// Sets the maximum number of connections to one host, idle ones included; 0 means no limit.
  func setMaximumHostConnections(_ maximum: Int) {
    _ = formstream_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, maximum)
  }

  /// C: `curl_multi_cleanup`
  deinit {
    for easy in running.values { curl_multi_remove_handle(handle, easy.handle) }
    running = [:]
    // Closing the idle connections calls `sockets`, which has to live until here.
    withExtendedLifetime(sockets) { _ = curl_multi_cleanup(handle) }
  }

  /// Starts a transfer; returns false if libcurl refuses it.
  ///
  /// C: `curl_multi_add_handle`
  func add(_ easy: CurlEasy) -> Bool {
    easy.useSockets(of: sockets)
    guard curl_multi_add_handle(handle, easy.handle) == CURLM_OK else { return false }
    running[easy.handle] = easy
    return true
  }

  /// Restarts a transfer that was ended before its request was sent; returns false if libcurl refuses it.
  ///
  /// - Parameter isOnNewConnection: whether the transfer gets a connection of its own.
  func addAgain(_ easy: CurlEasy, isOnNewConnection: Bool) -> Bool {
    easy.prepareAgain(isOnNewConnection: isOnNewConnection)
    return add(easy)
  }

  /// Whether the first request over a socket was sent, and the server's SETTINGS have not arrived yet.
  func awaitsSettings(_ socket: CInt) -> Bool { sockets.awaitsSettings(socket) }

  /// Removes a transfer at any point; its connection is closed unless the transfer was finished.
  ///
  /// C: `curl_multi_remove_handle`
  func remove(_ easy: CurlEasy) {
    curl_multi_remove_handle(handle, easy.handle)
    running[easy.handle] = nil
  }

  /// Waits until a transfer can go on or another descriptor is readable, but no longer than the given time. Returns whether a
  /// transfer can go on; this is assumed after the time, too, because libcurl has time limits of its own.
  ///
  /// C: `curl_multi_poll`
  func wait(besides descriptor: CInt, milliseconds: Int) -> Bool {
    var other = curl_waitfd(fd: descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0)
    var ready: CInt = 0
    guard curl_multi_poll(handle, &other, 1, CInt(clamping: milliseconds), &ready) == CURLM_OK else { return true }
    return ready != (other.revents == 0 ? 0 : 1) || ready == 0
  }

  /// Does everything that can be done without waiting.
  ///
  /// C: `curl_multi_perform`
  func perform() {
    var count: CInt = 0
    _ = curl_multi_perform(handle, &count)
    sockets.release()
  }

  /// Removes and returns the next finished transfer, with its failure if it failed.
  ///
  /// C: `curl_multi_info_read`
  func nextFinished() -> (easy: CurlEasy, failure: CurlFailure?)? {
    var left: CInt = 0
    while let message = curl_multi_info_read(handle, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let done = message.pointee.easy_handle,
        let easy = running[done]
      else { continue }
      let code = formstream_message_result(message)
      let failure = code == CURLE_OK ? nil : easy.failure(code)
      remove(easy)
      return (easy, failure)
    }
    return nil
  }
}
