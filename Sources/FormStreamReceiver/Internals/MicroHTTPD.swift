// The only file of this module that talks to libmicrohttpd. What it calls back comes in as an `Exchange` a
// request, and goes out as that one's steps.

import CFormStreamMicroHTTPD
import FormStreamMultipart

/// A daemon of libmicrohttpd: a thread for each connection that it is given, so that whoever takes
/// a body's bytes may wait for a disk, and holds up nobody but the client that sends them.
final class Daemon: Sendable {
  /// As much of a body is read at once as half of this has room for.
  private static let connectionMemory = 256 * 1024
  private static let stackSize = 512 * 1024

  /// Past its limit libmicrohttpd closes connections, and stands still where one of two that come together is
  /// past it. It is the floor that counts them; this is never reached.
  private static let connectionLimit = UInt32(1 << 30)

  nonisolated(unsafe) private var daemon: OpaquePointer?
  private let frontDesk: FrontDesk
  private let certificate: CString?
  private let key: CString?

  /// Starts.
  ///
  /// - Throws: what libmicrohttpd logged about why not.
  ///
  /// C: `MHD_start_daemon`
  init(
    tls: Receiver.TLSIdentity?, floor: Floor, service: Service
  ) throws(NotStarted) {
    let frontDesk = FrontDesk(floor: floor, service: service, isTLS: tls != nil)
    self.frontDesk = frontDesk
    certificate = tls.map { CString($0.certificate) }
    key = tls.map { CString($0.key) }
    var options = formstream_daemon_options()
    options.context = Unmanaged.passUnretained(frontDesk).toOpaque()
    options.connection_limit = Self.connectionLimit
    options.connection_memory = Self.connectionMemory
    options.stack_size = Self.stackSize
    options.certificate = certificate.map { UnsafePointer($0.start) }
    options.key = key.map { UnsafePointer($0.start) }
    options.log = { context, format, arguments in
      guard let context, let format, let arguments else { return }
      FrontDesk.behind(context).note(formatted(format, arguments))
    }
    options.connection = { context, connection, place, what in
      guard let context, let connection, let place else { return }
      FrontDesk.behind(context).connection(connection, at: place, what)
    }
    options.request_line = { context, target, connection in
      guard let context, let target, let connection else { return nil }
      return FrontDesk.behind(context).request(for: target, on: connection)
    }
    options.access = { context, connection, _, method, version, bytes, count, request in
      guard let context, let connection, let method, let version, let count,
        request?.pointee != nil, let exchange = Visit.of(connection)?.exchange
      else { return .NO }
      return FrontDesk.behind(context).access(
        connection, exchange, method: method, version: version,
        bytes: UnsafeRawBufferPointer(start: bytes, count: count.pointee), count: count)
    }
    options.completed = { _, connection, request, reason in
      guard let connection, request?.pointee != nil else { return }
      request?.pointee = nil
      Visit.of(connection)?.endRequest(isSent: reason == .REQUEST_TERMINATED_COMPLETED_OK)
    }
    daemon = formstream_start_daemon(&options)
    guard daemon != nil else {
      throw NotStarted(reason: frontDesk.notes)
    }
  }

  /// What came of letting a client in.
  enum Arrival {
    case letIn
    /// It was gone already, or could not be served.
    case lost
    /// There are no descriptors or no memory left for it.
    case noRoom
    /// The socket is listened at no more.
    case over
  }

  /// Waits for a client, and lets it in. Not to be called once ``stop()`` was.
  ///
  /// C: `accept4`, `MHD_add_connection`
  func letIn(from socket: ListeningSocket) -> Arrival {
    var result = MHD_Result.NO
    guard formstream_accept(socket.number, daemon, &result) >= 0 else { return arrivalOfNobody() }
    return result == .YES ? .letIn : .lost
  }

  /// Ends all connections, and waits for their threads. It is called once.
  ///
  /// C: `MHD_stop_daemon`
  func stop() {
    MHD_stop_daemon(daemon)
    daemon = nil
  }

  /// libmicrohttpd did not start.
  struct NotStarted: Error {
    /// What it logged about that.
    let reason: String
  }
}

/// Text that stays where it is, for C.
private final class CString: Sendable {
  nonisolated(unsafe) let start: UnsafeMutablePointer<CChar>

  init(_ text: String) {
    start = .allocate(capacity: text.utf8.count + 1)
    var end = start
    for byte in text.utf8 {
      end.initialize(to: CChar(bitPattern: byte))
      end += 1
    }
    end.initialize(to: 0)
  }

  deinit { start.deallocate() }
}

/// A connection, and the request that is under way on it. libmicrohttpd holds it by the connection's end, which it
/// always tells; a request's it does not, where it has no memory to refuse it.
private final class Visit {
  let connection: Connection
  var exchange: Exchange?

  init(_ connection: Connection) {
    self.connection = connection
  }

  static func of(_ handle: OpaquePointer) -> Visit? {
    formstream_socket_context(handle).map { Unmanaged<Visit>.fromOpaque($0).takeUnretainedValue() }
  }

  func endRequest(isSent: Bool) {
    exchange?.finish(isSent: isSent)
    exchange = nil
  }
}

/// Where libmicrohttpd's calls come in: on the thread that accepts connections, and on those of the connections.
private final class FrontDesk: Sendable {
  private static let maximumNotes = 4096

  private let floor: Floor
  private let service: Service
  private let isTLS: Bool
  private let log = Guarded("")

  init(floor: Floor, service: Service, isTLS: Bool) {
    self.floor = floor
    self.service = service
    self.isTLS = isTLS
  }

  static func behind(_ context: UnsafeMutableRawPointer) -> FrontDesk {
    Unmanaged<FrontDesk>.fromOpaque(context).takeUnretainedValue()
  }

  /// What was logged first.
  var notes: String { log.withLock { $0 } }

  func note(_ text: String) {
    log.withLock { log in
      if log.utf8.count < Self.maximumNotes { log += text }
    }
  }

  func connection(
    _ handle: OpaquePointer, at place: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ what: MHD_ConnectionNotificationCode
  ) {
    if what == .CONNECTION_NOTIFY_STARTED {
      let peer = formstream_peer(handle).map { SocketAddress($0).description } ?? "?"
      let connection = Connection(Socket(formstream_socket(handle)), peer: peer, isTLS: isTLS)
      place.pointee = Unmanaged.passRetained(Visit(connection)).toOpaque()
      floor.add(connection)
    } else if let context = place.pointee {
      place.pointee = nil
      let visit = Unmanaged<Visit>.fromOpaque(context).takeRetainedValue()
      visit.endRequest(isSent: false)
      visit.connection.enter(.closed)
      floor.remove(visit.connection)
    }
  }

  func request(
    for target: UnsafePointer<CChar>, on handle: OpaquePointer
  ) -> UnsafeMutableRawPointer? {
    guard let visit = Visit.of(handle) else { return nil }
    visit.endRequest(isSent: false)
    visit.exchange = Exchange(
      service, on: visit.connection, target: String(cString: target),
      targetSize: length(of: target))
    // What this is does not matter to the library, as long as it is something.
    return Unmanaged.passUnretained(visit).toOpaque()
  }

  /// libmicrohttpd calls once for the head, then for what there is of the body, then once where it is whole.
  func access(
    _ handle: OpaquePointer, _ exchange: Exchange, method: UnsafePointer<CChar>,
    version: UnsafePointer<CChar>, bytes: UnsafeRawBufferPointer,
    count: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    let step: Exchange.Step
    if exchange.isNew {
      let (fields, arePlain) = fields(
        of: handle, from: method, version, targetSize: exchange.targetSize)
      step = exchange.begin(
        RequestHead(
          method: String(cString: method), target: exchange.target,
          version: String(cString: version), fields: fields, isPlain: arePlain))
    } else if bytes.count > 0 {
      step = exchange.take(bytes)
      count.pointee = 0
    } else {
      step = exchange.end()
    }
    switch step {
    case .goOn: return .YES
    case .answer(let answer): return queue(answer, on: handle)
    case .cut(let answer):
      exchange.connection.answer(service.bytes(of: answer, hasBody: exchange.wantsBody))
      return .NO
    case .close: return .NO
    }
  }

  /// The headers, and whether they are all that there is.
  ///
  /// libmicrohttpd says nothing of lines that end in LF alone, that go on in the next one, or of what is behind a
  /// NUL; but it reads each head where it lies, and puts NULs in the place of line ends. So each header begins
  /// two bytes behind the one before. From 1.0 on it refuses such heads itself.
  ///
  /// C: `MHD_get_connection_values_n`, `MHD_get_connection_info`
  private func fields(
    of handle: OpaquePointer, from method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
    targetSize: Int
  ) -> ([PartDescription.Header], arePlain: Bool) {
    final class List {
      var fields: [PartDescription.Header] = []
      var next: UnsafePointer<CChar>
      var arePlain = true

      init(from start: UnsafePointer<CChar>) {
        next = start
      }
    }
    let list = List(from: version + length(of: version) + lineEnd)
    // One blank stands on each side of the target.
    list.arePlain = version == method + length(of: method) + targetSize + 2
    MHD_get_connection_values_n(
      handle, .HEADER_KIND,
      { list, _, name, nameCount, value, valueCount in
        guard let list else { return .NO }
        let known = Unmanaged<List>.fromOpaque(list).takeUnretainedValue()
        known.fields.append(PartDescription.Header(text(name, nameCount), text(value, valueCount)))
        if let name, let value, name == known.next {
          known.next = value + valueCount + lineEnd
        } else {
          known.arePlain = false
        }
        return .YES
      }, Unmanaged.passUnretained(list).toOpaque())
    let isWhole = list.next + lineEnd == method + formstream_head_size(handle)
    let isRefusedByLibrary = MHD_get_version().map { $0.pointee != CChar(48) } ?? false
    return (list.fields, (list.arePlain && isWhole) || isRefusedByLibrary)
  }

  /// C: `MHD_create_response_from_buffer`, `MHD_add_response_header`, `MHD_queue_response`
  private func queue(_ answer: Answer, on handle: OpaquePointer) -> MHD_Result {
    var body = answer.body
    guard
      let response = MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY)
    else { return .NO }
    defer { MHD_destroy_response(response) }
    for header in answer.headers { MHD_add_response_header(response, header.name, header.value) }
    if answer.closes { MHD_add_response_header(response, "Connection", "close") }
    return MHD_queue_response(handle, UInt32(answer.status), response)
  }
}

/// CR LF.
private let lineEnd = 2

private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
  String(
    decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
}

/// What a status is called (RFC 9110 §15).
///
/// C: `MHD_get_reason_phrase_for`
func reasonPhrase(for status: Int) -> String {
  MHD_get_reason_phrase_for(UInt32(clamping: status)).map { String(cString: $0) } ?? ""
}
