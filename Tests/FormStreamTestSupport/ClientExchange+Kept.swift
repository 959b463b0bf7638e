import FormStreamMultipart
package import FormStreamWire

extension ClientExchange {
  /// Sends a request and receives its response, so that the next request is not the first one of its connection.
  package mutating func serveFirstRequest() throws(RequestFlaw) {
    var output: [UInt8] = []
    try begin(RequestHead(method: "GET", target: "/", headers: ["Host": "h"]), to: &output)
    accepted(output.count)
    let response = Array("HTTP/1.1 204 N\r\n\r\n".utf8)
    response.withUnsafeBytes { bytes in
      var input = bytes
      while (try? receive(&input)) != nil {}
    }
  }
}
