import Basics
import CCurl

/// Sends requests to other servers, many at a time, over persistent connections.
///
/// libcurl is loaded when the first request is sent. No thread waits: libcurl names the sockets to watch, and is called
/// when they are ready. Redirects aren't followed. No proxy is used, even if the environment names one.
package actor HTTPClient {
    private nonisolated let executor = QueueExecutor(label: "http-client")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let configuration: Configuration
    private var library: CurlLibrary?
    private var multi: CurlMulti?
    private var lastNumber = 0
    /// The transfers in flight, by their handles.
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The transfers in flight and the waiting ones, by their numbers. A waiting transfer has no handle.
    private var numbers: [Int: (transfer: Transfer, easy: UnsafeMutableRawPointer?)] = [:]
    /// The numbers of the waiting requests, in order. The entries before `firstWaiting` were already taken. Cancelled
    /// requests are still in the list.
    private var waiting: [Int] = []
    private var firstWaiting = 0
    private var isShutDown = false

    package init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Returns libcurl's version. Throws if libcurl is missing or too old.
    package static func libraryVersion() throws(HTTPClientError) -> String {
        try CurlLibrary.load().version
    }

    /// Whether the dynamic linker's cache lists libcurl. Returns `nil` if there is no cache. The library isn't loaded.
    package static func isLibraryListed() -> Bool? {
        CurlLibrary.isListed
    }

    /// Sends a request and returns the response, with any status.
    ///
    /// - Throws: ``HTTPClientError`` if there is no response.
    package func send(_ request: OutgoingRequest) async throws(HTTPClientError) -> OutgoingResponse {
        lastNumber += 1
        let number = lastNumber
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                begin(Transfer(number, request, configuration, continuation))
            }
        } onCancel: {
            Task { await self.cancel(number) }
        }
        return try result.get()
    }

    /// Ends all requests and closes the connections.
    package func shutdown() {
        isShutDown = true
        for number in Array(numbers.keys) { end(number, .failure(.cancelled)) }
        multi = nil
    }

    // MARK: Requests

    private func begin(_ transfer: Transfer) {
        guard !isShutDown else { return transfer.finish(.failure(.cancelled)) }
        guard transfers.count >= configuration.maxInFlight else { return start(transfer) }
        guard numbers.count - transfers.count < configuration.maxWaiting else {
            return transfer.finish(.failure(.crowded))
        }
        numbers[transfer.number] = (transfer, nil)
        if waiting.count >= 2 * configuration.maxWaiting {
            // At least half of the numbers were taken or belong to cancelled requests.
            waiting = waiting[firstWaiting...].filter { numbers[$0] != nil }
            firstWaiting = 0
        }
        waiting.append(transfer.number)
    }

    private func start(_ transfer: Transfer) {
        numbers[transfer.number] = (transfer, nil)
        do throws(HTTPClientError) {
            let (library, multi) = try ready()
            guard let easy = multi.makeHandle() else { throw .failed("out of memory") }
            transfers[easy] = transfer
            numbers[transfer.number] = (transfer, easy)
            try transfer.configure(easy, configuration, library)
            guard multi.add(easy) else { throw .failed("libcurl takes no more requests") }
        } catch {
            remove(transfer.number, .failure(error))
        }
    }

    private func ready() throws(HTTPClientError) -> (CurlLibrary, CurlMulti) {
        if let library, let multi { return (library, multi) }
        let library = try CurlLibrary.load()
        let multi = CurlMulti(
            library: library,
            maxConnectionsPerHost: configuration.version == .http2 ? 1 : configuration.maxConnectionsPerHost,
            maxConnections: configuration.maxInFlight, queue: executor.queue
        ) { [weak self] wake in
            self?.assumeIsolated { $0.work(wake) }
        }
        guard let multi else { throw .failed("out of memory or descriptors") }
        self.library = library
        self.multi = multi
        return (library, multi)
    }

    private func cancel(_ number: Int) {
        end(number, .failure(.cancelled))
    }

    // MARK: Progress

    private func work(_ wake: CurlMulti.Wake) {
        guard let multi, let library else { return }
        for (easy, code) in multi.work(wake) {
            guard let transfer = transfers[easy] else { continue }
            var status = 0
            _ = curl_easy_get_long(library.easyGet, easy, CURLINFO_RESPONSE_CODE, &status)
            end(
                transfer.number,
                transfer.result(code, status: status, description: library.describe(code)))
        }
    }

    /// Ends a request in flight or waiting, and starts the next one.
    private func end(_ number: Int, _ result: Result<OutgoingResponse, HTTPClientError>) {
        remove(number, result)
        while transfers.count < configuration.maxInFlight, !isShutDown, let next = nextWaiting() {
            start(next)
        }
    }

    private func remove(_ number: Int, _ result: Result<OutgoingResponse, HTTPClientError>) {
        guard let (transfer, easy) = numbers.removeValue(forKey: number) else { return }
        if let easy, let library {
            transfers[easy] = nil
            multi?.recycle(easy)
            library.listFree(transfer.fields)
            transfer.fields = nil
        }
        transfer.finish(result)
    }

    /// Takes the first waiting request that wasn't cancelled.
    private func nextWaiting() -> Transfer? {
        while firstWaiting < waiting.count {
            let number = waiting[firstWaiting]
            firstWaiting += 1
            if firstWaiting == waiting.count || firstWaiting > 1024 {
                waiting.removeFirst(firstWaiting)
                firstWaiting = 0
            }
            if let (transfer, _) = numbers[number] { return transfer }
        }
        return nil
    }
}
