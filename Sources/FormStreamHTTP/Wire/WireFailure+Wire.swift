import FormStreamNet
import FormStreamPlatform
import FormStreamWire

extension WireFailure {
  /// - Parameter failure: why the connection failed; nil if it ended in order.
  init(_ error: WireError, after failure: SystemError?) {
    self.init(cause: error.cause, ending: Ending(error, failure), detail: "\(error)")
  }

  init(_ failure: ConnectFailure, hasLocalEnd: Bool) {
    let error = failure.addresses.last { $0.error != nil }?.error
    let cause: Cause =
      if failure.isTimedOut {
        .notConnectedInTime
      } else if hasLocalEnd, let error, error.isAboutLocalEnd {
        .interface
      } else {
        .notConnected(error)
      }
    self.init(cause: cause, ending: .closed, detail: failure.description)
  }

  init(_ failure: LookupFailure) {
    self.init(cause: .hostNotFound(.server), ending: .closed, detail: failure.reason)
  }
}

extension WireFailure.Ending {
  fileprivate init(_ error: WireError, _ failure: SystemError?) {
    if let failure {
      self = WireFailure.Ending(failure)
    } else if case .cutOff(.head) = error {
      self = .closedWithinHead
    } else if case .cutOff(let place) = error, place.isWithinResponse {
      self = .closedWithinResponse
    } else {
      self = .closed
    }
  }

  private init(_ failure: SystemError) {
    self =
      switch failure.ending {
      case .reset: .reset
      case .timedOut: .notAcknowledged
      case .noRoute: .noRoute
      case .networkUnreachable: .networkUnreachable
      case .other: .closed
      }
  }
}

extension WireError {
  fileprivate var cause: WireFailure.Cause {
    switch self {
    case .notHTTP: .malformed(.noVersion)
    case .statusLine(let line): .malformed(line.hasOtherVersion ? .unknownVersion : .status)
    case .notHeader: .malformed(.noColon)
    case .blankBeforeHeaders: .foldedFirstHeader
    case .forbiddenByte(0, _): .malformed(.nul)
    case .contentLength, .contentLengths, .disguisedFraming: .malformed(.contentLength)
    case .transferEncoding: .malformed(.coding)
    case .chunkSize, .chunkExtension, .chunkEnd: .malformed(.chunks)
    case .forbiddenByte, .bareLF, .overLimit, .unasked, .switchedProtocols: .malformed(.described("\(self)"))
    case .cutOff(.beforeResponse): .noResponse
    case .cutOff: .broken
    case .inTrailers(let error): error.cause
    }
  }
}

extension [UInt8] {
  /// Whether a first line has a version, but none of HTTP/1.
  fileprivate var hasOtherVersion: Bool {
    let version = dropFirst("HTTP/".utf8.count).prefix { $0 != UInt8(ascii: " ") }
    return version.first?.isASCIIDigit == true && version.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
      && !version.starts(with: "1.".utf8)
  }
}

extension WireError.Place {
  fileprivate var isWithinResponse: Bool {
    switch self {
    case .beforeResponse, .head: false
    case .body, .chunks, .trailers, .untilClose: true
    }
  }
}

extension TransferError {
  /// The error of a response that can't be read, if there is one of its own for it.
  init?(_ error: WireError, _ url: HTTPURL) {
    switch error {
    case .inTrailers(let error): self.init(error, url)
    case .overLimit(.head, let limit), .overLimit(.line, let limit), .overLimit(.interimBytes, let limit):
      self = .headsTooLong(url, limit: limit)
    case .overLimit(.interimHeads, let limit): self = .tooManyInformationalResponses(url, limit + 1)
    case .switchedProtocols: self = .protocolSwitched(url)
    case .contentLengths: self = .severalLengths(url)
    case .transferEncoding(let coding): self = .transferCodingUnknown(url, String(decoding: coding, as: UTF8.self))
    default: return nil
    }
  }
}
