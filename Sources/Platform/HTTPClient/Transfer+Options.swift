import CCurl
import Wire

extension Transfer {
    /// Sets libcurl's options for this request.
    ///
    /// - Throws: ``HTTPClientError`` if an option is refused.
    func configure(
        _ easy: UnsafeMutableRawPointer, _ configuration: HTTPClient.Configuration, _ library: CurlLibrary
    ) throws(HTTPClientError) {
        let setter = library.easySet
        var failure: CURLcode?
        func check(_ code: CURLcode) {
            if code != CURLE_OK, failure == nil { failure = code }
        }
        func set(_ option: CURLoption, _ value: Int) { check(curl_easy_set_long(setter, easy, option, value)) }
        // libcurl copies the text, so it needn't stay in memory.
        func set(_ option: CURLoption, _ text: String) { check(curl_easy_set_pointer(setter, easy, option, text)) }

        guard !request.url.utf8.contains(0) else { throw .invalidURL }
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        // An empty text also disables a proxy from the environment. With a proxy, the check for private addresses would
        // see only the proxy's address.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        // If a name lookup is abandoned, libcurl must not wait for the lookup's thread, because that would delay all
        // transfers. Versions before 7.87 ignore this option.
        _ = curl_easy_set_long(setter, easy, CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(configuration.connectTimeout))
        set(CURLOPT_TIMEOUT_MS, milliseconds(configuration.timeout))
        set(CURLOPT_SSLVERSION, CCURL_SSLVERSION_TLSv1_2)
        if let caFile = configuration.caFile { set(CURLOPT_CAINFO, caFile) }
        set(CURLOPT_HTTP_VERSION, CCURL_HTTP_VERSION_2TLS)
        // Waits for a connection that is being opened and uses a stream of it, instead of opening another connection.
        set(CURLOPT_PIPEWAIT, configuration.version == .http2 ? 1 : 0)
        set(CURLOPT_USERAGENT, configuration.agent)

        switch request.method {
        case .get: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        default:
            set(CURLOPT_POST, 1)
            check(curl_easy_set_offset(setter, easy, CURLOPT_POSTFIELDSIZE_LARGE, Int(request.body.count)))
            check(curl_easy_set_pointer(setter, easy, CURLOPT_COPYPOSTFIELDS, request.body))
            if request.method != .post { set(CURLOPT_CUSTOMREQUEST, request.method.name) }
        }
        try addFields(library)
        check(curl_easy_set_pointer(setter, easy, CURLOPT_HTTPHEADER, UnsafeRawPointer(fields)))

        check(curl_easy_set_pointer(setter, easy, CURLOPT_WRITEDATA, pointer))
        check(
            curl_easy_set_write_callback(setter, easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, transfer in
                Transfer.at(transfer)?.received(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            })
        check(curl_easy_set_pointer(setter, easy, CURLOPT_HEADERDATA, pointer))
        check(
            curl_easy_set_write_callback(setter, easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, transfer in
                Transfer.at(transfer)?.received(headerLine: UnsafeRawBufferPointer(start: bytes, count: size * count))
                    ?? 0
            })
        check(curl_easy_set_pointer(setter, easy, CURLOPT_OPENSOCKETDATA, pointer))
        check(
            curl_easy_set_opensocket_callback(setter, easy) { transfer, _, address in
                guard let address else { return CCURL_SOCKET_BAD }
                return Transfer.at(transfer)?.openSocket(
                    family: address.pointee.family, type: address.pointee.socktype,
                    protocol: address.pointee.protocol, address: curl_sockaddr_address(address))
                    ?? CCURL_SOCKET_BAD
            })
        if let failure { throw .failed(library.describe(failure)) }
    }

    private func addFields(_ library: CurlLibrary) throws(HTTPClientError) {
        // The empty field prevents `Expect: 100-continue`, which libcurl would send before large content.
        var lines = ["Expect:"]
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        for field in request.headers {
            // In libcurl's list, "Name:" removes a field, and "Name;" sends an empty field.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .failed("a field of the request contains a control character")
            }
            lines.append(line)
        }
        for line in lines {
            guard let longer = library.listAppend(fields, line) else { throw .failed("out of memory") }
            fields = longer
        }
    }

    private func milliseconds(_ duration: Duration) -> Int {
        Int(max(1, min(duration / .milliseconds(1), 1e9)))
    }
}
