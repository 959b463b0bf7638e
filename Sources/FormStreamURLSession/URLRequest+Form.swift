public import FormStream

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension URLRequest {
  /// Makes this request an upload of a form: sets its method, `Content-Type` and body stream. No file or stream is
  /// opened.
  ///
  /// ```swift
  /// var request = URLRequest(url: url)
  /// request.setBody(of: try form.layout())
  /// session.dataTask(with: request).resume()
  /// ```
  ///
  /// On Apple's platforms `Content-Length` is set if the length is known. On Linux it is removed:
  /// URLSession sends a stream chunked there, and RFC 9112 §6.2 forbids both framings in one
  /// request. Don't set it afterwards.
  ///
  /// The stream can be read once, so use a request for one upload, and call this method again for another upload. On
  /// Linux, a request that is sent a second time has an empty body, without an error.
  ///
  /// Redirects are handled by ``FormUploadDelegate``.
  ///
  /// - Parameters:
  ///   - layout: the layout of the form.
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
