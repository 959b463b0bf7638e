import FormStreamURLSession
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

func upload(_ form: Form, to url: URL) throws {
  let layout = try form.layout()
  var request = URLRequest(url: url)
  request.setBody(of: layout)
  let delegate = FormUploadDelegate(layout) { print($0.bytesSent, $0.bytesTotal ?? -1) }
  let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
  session.dataTask(with: request).resume()
}
