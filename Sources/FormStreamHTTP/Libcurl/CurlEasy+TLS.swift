import CFormStreamCurl
import FormStreamMultipart

/// Encryption as libcurl's options.
extension CurlEasy {
  func setTLS(_ request: WireRequest) {
    let settings = request.configuration.tls
    set(CURLOPT_SSLVERSION, versions(settings))
    // libcurl 7.88 would let a request that may be sent over HTTP/2 share a connection that is in use for HTTP/1.1. libcurl
    // doesn't share connections between requests with different settings, so requests for HTTP/1.1 get a setting that OpenSSL
    // ignores.
    set(
      CURLOPT_SSL_OPTIONS, request.configuration.version == .http11 ? Int(CURLSSLOPT_NO_REVOKE) : 0)
    setAuthorities(settings)
    if let path = settings.certificate {
      set(CURLOPT_SSLCERT, path: path)
      set(CURLOPT_SSLKEY, path: settings.key ?? path)
      // Without a passphrase, OpenSSL would ask for one on the terminal.
      set(CURLOPT_KEYPASSWD, settings.passphrase ?? "")
    }
    switch settings.pin?.kind {
    case .digests(let text): set(CURLOPT_PINNEDPUBLICKEY, text)
    case .file(let path): set(CURLOPT_PINNEDPUBLICKEY, path: path)
    case nil: break
    }
    set(CURLOPT_SSL_VERIFYPEER, settings.verifiesServer ? 1 : 0)
    // If the program decides whether certificates are trusted, its decision also covers the host name. So libcurl doesn't check
    // the host name.
    set(CURLOPT_SSL_VERIFYHOST, settings.verifiesServer && request.serverTrust == nil ? 2 : 0)
    if request.serverTrust != nil { set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
    watchCertificates(request)
  }

  private func versions(_ settings: TLSSettings) -> Int {
    let minimum =
      settings.minimumVersion == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
    let maximum =
      switch settings.maximumVersion {
      case .tls12?: CURL_SSLVERSION_MAX_TLSv1_2
      case .tls13?: CURL_SSLVERSION_MAX_TLSv1_3
      default: CURL_SSLVERSION_MAX_NONE
      }
    return Int(minimum) | Int(maximum)
  }

  /// Sets both the file and the directory of the trusted authorities. With only one of the two set, libcurl would also trust
  /// the system's authorities.
  private func setAuthorities(_ settings: TLSSettings) {
    guard settings.authorities != nil || settings.authoritiesDirectory != nil else { return }
    set(CURLOPT_CAINFO, pathOrNone: settings.authorities)
    set(CURLOPT_CAPATH, pathOrNone: settings.authoritiesDirectory)
  }

  /// Installs a check of the certificates of servers and proxies. The check says what is wrong with the certificates, and lets
  /// the program decide whether a server's certificates are trusted.
  private func watchCertificates(_ request: WireRequest) {
    guard request.configuration.tls.verifiesServer || request.proxy?.isEncrypted == true,
      request.isEncrypted || request.proxy?.isEncrypted == true, CurlLibrary.usesOurOpenSSL
    else { return }
    makeCertificateCheck = { easy in
      // The handshake with a proxy comes before the tunnel through it.
      if let proxy = request.proxy, proxy.isEncrypted, easy.connectStatus == 0 {
        return CertificateCheck(of: proxy.host, request.url.origin, nil)
      }
      guard request.configuration.tls.verifiesServer else { return nil }
      return CertificateCheck(of: request.url.origin.host, request.url.origin, request.serverTrust)
    }
    set(CURLOPT_SSL_CTX_DATA, pointer: Unmanaged.passUnretained(self).toOpaque())
    check(
      formstream_easy_set_tls_function(handle) { _, settings, context in
        guard let settings, let easy = CurlEasy.at(context), let make = easy.makeCertificateCheck
        else { return CURLE_OK }
        easy.certificateCheck = make(easy)
        guard let check = easy.certificateCheck else { return CURLE_OK }
        return check.install(in: settings) ? CURLE_OK : CURLE_OUT_OF_MEMORY
      })
  }
}
