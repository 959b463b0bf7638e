import FormStreamHTTP
import FormStreamMultipart

/// The headers that `-H 'Name:'` leaves out, and the User-Agent if `-A` is empty, as in curl.
struct OmittedHeaders {
  let names: [String]

  init(_ arguments: RequestArguments) throws(Failure) {
    var names: [String] = arguments.userAgent?.bytes.isEmpty == true ? ["User-Agent"] : []
    for case .line(let argument) in arguments.headers {
      let line = try HeaderLine(argument)
      if line.leavesOut { names.append(line.name) }
    }
    self.names = names
  }

  func contain(_ name: String) -> Bool { names.contains { $0.isSameHeaderName(as: name) } }
}
