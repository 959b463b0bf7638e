/// What has become possible on a descriptor.
package struct Readiness: OptionSet, Sendable {
  // The numbers are those of epoll.
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Something can be read: bytes, the end, or a failure.
  package static let readable = Readiness(rawValue: 0x001)
  /// Something can be written, or a connection has been made.
  package static let writable = Readiness(rawValue: 0x004)
  /// A byte of urgent data (RFC 9293 §3.8.5) is on its way. A read stops before it, even if bytes follow.
  package static let urgent = Readiness(rawValue: 0x002)
  /// The descriptor has failed.
  package static let failed = Readiness(rawValue: 0x008)
  /// Both directions have ended.
  package static let closed = Readiness(rawValue: 0x010)
  /// The other side sends nothing more.
  package static let ended = Readiness(rawValue: 0x2000)

  static let all: Readiness = [.readable, .writable, .urgent, .failed, .closed, .ended]
}

/// An object that an ``EventLoop`` tells about one descriptor. All its functions are called on the loop's thread.
package protocol EventHandler: AnyObject {
  /// Something has become possible. Each change is reported once, so the handler has to remember it until it has read or
  /// written as much as the system gives or takes.
  func isReady(_ events: Readiness)

  /// The loop ends, and reports nothing more. The handler closes its descriptor.
  func loopEnds()
}
