import CFormStreamCurl
import FormStreamMultipart

/// A proxy as libcurl's options.
extension CurlEasy {
  func setProxy(_ request: WireRequest) {
    // This module has already decided whether to use the proxy. Without this option, libcurl would ask the environment.
    set(CURLOPT_NOPROXY, "")
    guard let proxy = request.proxy else { return set(CURLOPT_PROXY, "") }
    set(CURLOPT_PROXY, proxy.description)
    if let credentials = proxy.credentials {
      set(CURLOPT_PROXYUSERNAME, credentials.user)
      set(CURLOPT_PROXYPASSWORD, credentials.password)
    }
    set(CURLOPT_PROXYAUTH, formstream_basic_authentication())
    set(CURLOPT_SOCKS5_AUTH, formstream_basic_authentication())
    // A proxy that forwards requests without a tunnel speaks HTTP/1.1, so HTTP/2 with prior knowledge needs a tunnel.
    set(CURLOPT_HTTPPROXYTUNNEL, request.hasPriorKnowledge ? 1 : 0)
    // The proxy's response to CONNECT is not the server's, and the request's headers are not for the proxy.
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    guard proxy.isEncrypted else { return }
    set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
    set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
    if let path = request.configuration.proxy.authorities {
      set(CURLOPT_PROXY_CAINFO, path: path)
      set(CURLOPT_PROXY_CAPATH, pathOrNone: nil)
    }
  }
}
