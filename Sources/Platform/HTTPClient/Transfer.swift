import CCurl
import Glibc
import Wire

/// A request in flight. The object is used only on the client's queue. libcurl has a pointer to it as long as it is in
/// a ``CurlMulti``.
final class Transfer {
    typealias Continuation = CheckedContinuation<Result<OutgoingResponse, HTTPClientError>, Never>

    /// The maximum size of a response's header fields in bytes.
    private static let maxHeaderBytes = 65_536
    /// The time in milliseconds after which a connection with unacknowledged data counts as broken. Otherwise the
    /// kernel would send the data again for a quarter of an hour, and all new requests on the connection would wait.
    static let longestSilence: Int32 = 5000

    let request: OutgoingRequest
    /// The request's number in its client.
    let number: Int
    private let configuration: HTTPClient.Configuration
    private var continuation: Continuation?
    /// The request's header fields, which libcurl reads until the transfer ends.
    var fields: UnsafeMutablePointer<curl_slist>?

    private(set) var headers: [HTTPField] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isBodyCut = false
    private var wasPrivate = false

    init(
        _ number: Int, _ request: OutgoingRequest, _ configuration: HTTPClient.Configuration,
        _ continuation: Continuation
    ) {
        self.number = number
        self.request = request
        self.configuration = configuration
        self.continuation = continuation
    }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func finish(_ result: Result<OutgoingResponse, HTTPClientError>) {
        continuation?.resume(returning: result)
        continuation = nil
    }

    // MARK: Data from libcurl

    /// Handles a line of the response's head. An interim response (status 100 or 103) is dropped.
    ///
    /// - Returns: The number of bytes taken. If it is less than all, libcurl ends the transfer.
    func received(headerLine line: UnsafeRawBufferPointer) -> Int {
        headerBytes += line.count
        guard headerBytes <= Self.maxHeaderBytes else { return 0 }
        let text = String(decoding: line, as: UTF8.self)
        // The status line is checked first, because its reason phrase may contain a colon. A field's name can't contain
        // a slash.
        if text.hasPrefix("HTTP/") {
            headers = []
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...]
            headers.append(HTTPField(String(text[..<colon]), String(value.trimmed)))
        }
        return line.count
    }

    /// - Returns: The number of bytes taken. If it is less than all, libcurl ends the transfer.
    func received(body bytes: UnsafeRawBufferPointer) -> Int {
        let room = configuration.maxBodyBytes - body.count
        body.append(contentsOf: bytes.prefix(room))
        guard bytes.count <= room else {
            isBodyCut = true
            return 0
        }
        return bytes.count
    }

    /// Opens a socket for an address, unless the address is private and private addresses aren't permitted. Every
    /// connection is checked, so a name server can't circumvent the check by changing its answer.
    func openSocket(family: Int32, type: Int32, protocol number: Int32, address: UnsafeRawPointer?) -> Int32 {
        if !configuration.allowsPrivateAddresses {
            guard let address = address.flatMap({ Self.address(at: $0, family: family) }),
                !PrivateNetworks.contains(address)
            else {
                wasPrivate = true
                return CCURL_SOCKET_BAD
            }
        }
        let descriptor = socket(family, type | Int32(SOCK_CLOEXEC.rawValue), number)
        guard descriptor >= 0 else { return CCURL_SOCKET_BAD }
        var silence = Self.longestSilence
        // If the kernel refuses this option, broken connections are only noticed later.
        _ = setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &silence, socklen_t(MemoryLayout.size(ofValue: silence)))
        return descriptor
    }

    /// Returns the address in a `sockaddr_in` or `sockaddr_in6`. In memory, the address follows the family and the
    /// port, and in `sockaddr_in6` also the flow information.
    private static func address(at pointer: UnsafeRawPointer, family: Int32) -> IPAddress? {
        switch family {
        case AF_INET:
            IPAddress(ipv4: UInt32(bigEndian: pointer.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6:
            IPAddress(
                high: UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                low: UInt64(bigEndian: pointer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
        default: nil
        }
    }

    // MARK: The end

    func result(_ code: CURLcode, status: Int, description: String) -> Result<OutgoingResponse, HTTPClientError> {
        switch code {
        case CURLE_OK:
            return .success(OutgoingResponse(status: status, headers: headers, body: body))
        case CURLE_WRITE_ERROR where isBodyCut:
            return .success(OutgoingResponse(status: status, headers: headers, body: body))
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
            return .failure(.invalidURL)
        case CURLE_COULDNT_RESOLVE_HOST:
            return .failure(.cannotResolve(description))
        case CURLE_COULDNT_CONNECT:
            return .failure(wasPrivate ? .privateAddress : .cannotConnect(description))
        case CURLE_OPERATION_TIMEDOUT:
            return .failure(.timedOut)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return .failure(.tls(description))
        default:
            return .failure(.failed(description))
        }
    }
}

extension Substring {
    /// The text without white space at its beginning and end (RFC 9110 §5.5).
    fileprivate var trimmed: Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else {
            return ""
        }
        return self[first...last]
    }
}
