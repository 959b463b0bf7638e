import Foundation
import FormStreamReceiver
import FormStreamTestSupport

/// Certificates, made once for all tests.
private let certificates = Result { try TestCertificates() }

extension Receiver.TLSIdentity {
  /// The certificate of `localhost` and 127.0.0.1.
  static func testing() throws -> Receiver.TLSIdentity { try Self(certificates.get().server) }

  init(_ pair: TestCertificates.Pair) throws {
    self.init(
      certificate: try String(contentsOfFile: pair.certificate, encoding: .utf8),
      key: try String(contentsOfFile: pair.key, encoding: .utf8))
  }
}

/// The path of the certificate that signed it.
func testingAuthority() throws -> String { try certificates.get().authority }

/// A pair that goes with none of these.
func otherIdentity() throws -> Receiver.TLSIdentity { try .init(certificates.get().client) }
