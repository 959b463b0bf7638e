import CFormStreamMicroHTTPD
import FormStreamPlatform

/// The functions that libmicrohttpd calls. It calls them on the thread that accepts connections, and on the connections'
/// threads.
final class DaemonCallbacks: Sendable {
  private static let maximumLogSize = 4096

  private let connections: ConnectionTable
  private let service: Service
  private let isTLS: Bool
  private let log = Guarded("")
  /// The connections by their threads. A log message of libmicrohttpd doesn't say which connection it is about, so the
  /// connection is found by the thread that logs the message.
  private let contexts = Guarded<[UInt: Unmanaged<ConnectionContext>]>([:])

  init(connections: ConnectionTable, service: Service, isTLS: Bool) {
    self.connections = connections
    self.service = service
    self.isTLS = isTLS
  }

  /// The first messages that libmicrohttpd logged.
  var loggedText: String { log.withLock { $0 } }

  /// Registers these functions in the daemon's options. The daemon must not outlive this object.
  func install(in options: inout formstream_daemon_options) {
    options.context = Unmanaged.passUnretained(self).toOpaque()
    options.log = { context, format, arguments in
      guard let context, let format, let arguments else { return }
      DaemonCallbacks.from(context).logged(formatted(format, arguments))
    }
    options.connection = { context, handle, socketContext, event in
      guard let context, let handle, let socketContext else { return }
      DaemonCallbacks.from(context).connectionChanged(handle, socketContext, event)
    }
    options.request_line = { context, target, handle in
      guard let context, let target, let handle else { return nil }
      return DaemonCallbacks.from(context).requestBegan(target, on: handle)
    }
    options.access = { context, handle, _, method, version, bytes, count, request in
      guard let context, let handle, let method, let version, let count,
        request?.pointee != nil, let request = ConnectionContext.of(handle)?.request
      else { return .NO }
      return DaemonCallbacks.from(context).requestContinued(
        handle, request, method: method, version: version,
        bytes: UnsafeRawBufferPointer(start: bytes, count: count.pointee), count: count)
    }
    options.completed = { _, handle, request, reason in
      guard let handle, request?.pointee != nil else { return }
      request?.pointee = nil
      ConnectionContext.of(handle)?.endRequest(isSent: reason == .REQUEST_TERMINATED_COMPLETED_OK)
    }
  }

  private static func from(_ context: UnsafeMutableRawPointer) -> DaemonCallbacks {
    Unmanaged<DaemonCallbacks>.fromOpaque(context).takeUnretainedValue()
  }

  private func logged(_ message: String) {
    log.withLock { log in
      if log.utf8.count < Self.maximumLogSize { log += message }
    }
    guard let context = contexts.withLock({ $0[currentThread()] }),
      let request = context.takeUnretainedValue().request
    else { return }
    // libmicrohttpd logs that it refuses a request, and then sends its response. If it can't send the response, it logs
    // again.
    if message.utf8.starts(with: Self.refusalMessage.utf8),
      let status = Int(Substring(message.utf8.dropFirst(Self.refusalMessage.utf8.count).prefix(3)))
    {
      request.refuseUnreadable(status: status)
    } else {
      request.noteFailedResponse()
    }
  }

  private static let refusalMessage = "Error processing request (HTTP response code is "

  private func connectionChanged(
    _ handle: OpaquePointer, _ socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ event: MHD_ConnectionNotificationCode
  ) {
    if event == .CONNECTION_NOTIFY_STARTED {
      let number = formstream_socket(handle)
      let connection = Connection(
        Socket(number), peer: formstream_peer(handle).map { SocketAddress($0) }, isTLS: isTLS,
        refusal: connections.refusal(ofSocket: number))
      socketContext.pointee = ConnectionContext(connection).retain()
      connections.add(connection, socket: number)
    } else if let pointer = socketContext.pointee {
      socketContext.pointee = nil
      let context = ConnectionContext.release(pointer)
      context.endRequest(isSent: false)
      if let thread = context.thread {
        contexts.withLock { contexts in
          // The thread has ended, and the thread of a new connection may have the same number.
          let isOwn = contexts[thread].map { $0.toOpaque() == pointer } ?? false
          if isOwn { contexts[thread] = nil }
        }
      }
      context.connection.enter(.closed)
      connections.remove(context.connection)
    }
  }

  private func requestBegan(
    _ target: UnsafePointer<CChar>, on handle: OpaquePointer
  ) -> UnsafeMutableRawPointer? {
    guard let context = ConnectionContext.of(handle) else { return nil }
    context.endRequest(isSent: false)
    if context.thread == nil {
      let thread = currentThread()
      context.thread = thread
      contexts.withLock { $0[thread] = .passUnretained(context) }
    }
    context.request = IncomingRequest(
      service, on: context.connection, target: String(cString: target),
      targetSize: length(of: target))
    // libmicrohttpd only needs a pointer that is not null.
    return Unmanaged.passUnretained(context).toOpaque()
  }

  /// libmicrohttpd calls this once for the head, then for each piece of the body, then once for the request's end.
  private func requestContinued(
    _ handle: OpaquePointer, _ request: IncomingRequest, method: UnsafePointer<CChar>,
    version: UnsafePointer<CChar>, bytes: UnsafeRawBufferPointer,
    count: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    let step: IncomingRequest.Step
    if request.isNew {
      step = request.begin(
        RequestHead(
          of: handle, method: method, target: request.target, targetSize: request.targetSize,
          version: version))
    } else if bytes.count > 0 {
      step = request.receive(bytes)
      count.pointee = 0
    } else {
      step = request.end()
    }
    switch step {
    case .proceed: return .YES
    case .respond(var response):
      if connections.hasWaitingClient { response.closes = true }
      request.closesConnection = response.closes
      return queue(request.connection.isTLS ? response.underTLS : response, on: handle)
    case .respondAndClose(let response):
      request.connection.sendLastResponse(
        service.bytes(of: response, hasBody: request.allowsResponseBody))
      return .NO
    case .close:
      request.connection.drainIfTold()
      return .NO
    }
  }
}
