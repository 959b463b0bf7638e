import Foundation
import FormStreamReceiver
import FormStreamTestSupport

/// The certificates of all tests, made once.
private let certificates = Result { try TestCertificates() }

extension Receiver.TLSIdentity {
  /// An identity for `localhost` and 127.0.0.1.
  static func forTests() throws -> Receiver.TLSIdentity { try Self(certificates.get().server) }

  init(_ pair: TestCertificates.Pair) throws {
    self.init(
      certificate: try String(contentsOfFile: pair.certificate, encoding: .utf8),
      key: try String(contentsOfFile: pair.key, encoding: .utf8))
  }
}

/// An identity whose key does not belong to the other certificate.
func unrelatedIdentity() throws -> Receiver.TLSIdentity { try .init(certificates.get().client) }
