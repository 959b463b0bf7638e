import Multipart
import Transfer

extension PostPlan {
  func curlLine() throws(Failure) -> [UInt8] { Array("curl\n".utf8) }
}
