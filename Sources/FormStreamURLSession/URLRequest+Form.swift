public import FormStream

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLRequest {
  /// Makes this the request that sends a form: its method, its `Content-Type`, and a stream of its body.
  ///
  /// ```swift
  /// var request = URLRequest(url: url)
  /// request.setBody(of: try form.layout())
  /// session.dataTask(with: request).resume()
  /// ```
  ///
  /// On Apple's platforms `Content-Length` is set where the length is known. On Linux it is not set, and
  /// is removed where it was: URLSession sends a stream chunked there, and RFC 9112 §6.2 forbids both
  /// framings in one request. Don't set it afterwards either.
  ///
  /// The stream in the request can be read once, so one request is one upload: call this again for
  /// another. On Linux the same request sent again has an empty body, and no error says so.
  ///
  /// Nothing is opened here. Redirects are the matter of a ``FormUploadDelegate``.
  ///
  /// - Parameters:
  ///   - layout: the form, laid out.
  ///   - method: the method, as it is sent.
  public mutating func setBody(of layout: BodyLayout, method: String = "POST") {
    httpMethod = method
    setValue(layout.contentType, forHTTPHeaderField: "Content-Type")
    #if os(Linux)
      setValue(nil, forHTTPHeaderField: "Content-Length")
    #else
      setValue(layout.contentLength.map { String($0) }, forHTTPHeaderField: "Content-Length")
    #endif
    httpBodyStream = FormInputStream(layout)
  }
}
