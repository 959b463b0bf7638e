import FormStreamMultipart
import FormStreamReceiver

/// The flags about reading a body, for every command that reads one.
extension Flag {
  static let readingFlags = [
    Flag(
      long: "content-type", value: Value(placeholder: "TYPE"), group: .reading, verbs: [.parse],
      common: [.parse],
      summary: "The Content-Type of the request, which names the boundary",
      detail: """
        The complete header line is accepted too. If the type is not multipart/form-data, such as \
        multipart/mixed, parts need no names.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.contentType = try argument.text(for: "--content-type")
    },
    Flag(
      long: "bare-lf", group: .reading, verbs: [.parse],
      summary: "Accept LF alone as the end of a line, as in bodies made by hand"
    ) { (arguments, _) in arguments.allowsBareLF = true },
    Flag(
      long: "limit", value: Value(placeholder: "NAME=N"), group: .reading,
      verbs: [.parse, .receive],
      summary: "Set a limit for the body, such as parts=100; can be repeated",
      detail: """
        N may end in K, M, G or T, for powers of 1024. A body over a limit is refused at once. The limits \
        and their defaults: \
        \(BodyLimit.allCases.map { "\($0.rawValue), \($0.meaning)" }.joined(separator: "; ")). \
        The default of all-headers for receive is \(Receiver.Limits().form.allHeaders).
        """
    ) { (arguments, argument) throws(Failure) in
      let (limit, number) = try BodyLimit.value(of: argument)
      arguments.limits[limit] = number
    },
  ]
}
