#if !canImport(Glibc)
    import Foundation

    /// The transport with URLSession, for macOS 13 and iOS 16 or later. It isn't built on Linux, so the tests there
    /// don't cover it.
    struct URLSessionTransport: Transport {
        let server: ServerAddress

        private func url(_ request: ClientRequest, _ scheme: String) throws(ClientError) -> URLRequest {
            let address = "\(scheme)\(server.isSecure ? "s" : "")://\(server.authority)\(server.path)\(request.target)"
            guard let url = URL(string: address) else { throw .invalidAddress(address) }
            var converted = URLRequest(url: url, timeoutInterval: 30)
            converted.httpMethod = request.method
            for field in request.fields { converted.addValue(field.value, forHTTPHeaderField: field.name) }
            converted.httpBody = request.body.map { Data($0) }
            return converted
        }

        func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
            let request = try url(request, "http")
            do {
                let (body, response) = try await URLSession.shared.data(for: request)
                return Self.response(response, Array(body))
            } catch { throw Self.failure(error) }
        }

        func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
            var request = try url(request, "http")
            request.timeoutInterval = 60
            do {
                let (bytes, response) = try await URLSession.shared.bytes(for: request)
                let head = Self.response(response, [])
                guard head.status == 200 else { throw ClientError.refused(ServerRefusal(head)) }
                return EventLineLink(bytes)
            } catch { throw Self.failure(error) }
        }

        func webSocket(
            _ request: ClientRequest, subprotocols: [String]
        ) async throws(ClientError) -> any Link {
            var request = try url(request, "ws")
            if !subprotocols.isEmpty {
                request.setValue(subprotocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
            }
            let task = URLSession.shared.webSocketTask(with: request)
            task.maximumMessageSize = 1 << 20
            task.resume()
            let link = TaskLink(task)
            do {
                try await link.open()
            } catch {
                // URLSession drops the body of a refusal, which has the code and the reason. `Retry-After` is kept.
                guard let response = task.response as? HTTPURLResponse, response.statusCode != 101 else { throw error }
                throw .refused(ServerRefusal(Self.response(response, [])))
            }
            return link
        }

        private static func response(_ response: URLResponse, _ body: [UInt8]) -> ClientResponse {
            guard let response = response as? HTTPURLResponse else { return ClientResponse(status: 500) }
            let fields = response.allHeaderFields.map { ClientField("\($0.key)".lowercased(), "\($0.value)") }
            return ClientResponse(status: response.statusCode, fields: fields, body: body)
        }

        fileprivate static func failure(_ error: any Error) -> ClientError {
            if let error = error as? ClientError { return error }
            guard let error = error as? URLError else { return .unreachable(error.localizedDescription) }
            switch error.code {
            case .cancelled: return .cancelled
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .secureConnectionFailed:
                return .untrusted(error.localizedDescription)
            default: return .unreachable(error.localizedDescription)
            }
        }
    }

    /// A link over a WebSocket task of URLSession. URLSession doesn't report the server's pings. If nothing arrives,
    /// the link therefore sends its own pings and reports the pongs.
    private actor TaskLink: Link {
        private typealias Outcome = Result<LinkEvent, ClientError>

        private static let quiet = Duration.seconds(20)
        /// The maximum number of waiting pongs. It equals the maximum number of pings that the session sends. Messages
        /// need no limit, because only one is requested at a time.
        private static let mostWaiting = 1024

        private nonisolated let task: URLSessionWebSocketTask
        /// The caller that waits for the first pong.
        private var opener: CheckedContinuation<Result<Void, ClientError>, Never>?
        private var reader: CheckedContinuation<Outcome, Never>?
        /// Results that arrived while no reader waited.
        private var outcomes: [Outcome] = []
        /// Whether a message is requested from URLSession. The next one is requested only after this one has arrived.
        private var isReceiving = false

        init(_ task: URLSessionWebSocketTask) {
            self.task = task
        }

        /// Waits for the first pong, which shows that the socket is open.
        func open() async throws(ClientError) {
            let task = task
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    opener = continuation
                    task.sendPing { error in
                        Task {
                            await self.opened(error.map { .failure(URLSessionTransport.failure($0)) } ?? .success(()))
                        }
                    }
                }
            } onCancel: {
                task.cancel()
                Task { await self.opened(.failure(.cancelled)) }
            }
            try result.get()
        }

        /// Takes the result of the first ping. URLSession sometimes calls a ping's handler twice, so later results are
        /// ignored.
        private func opened(_ result: Result<Void, ClientError>) {
            opener?.resume(returning: result)
            opener = nil
        }

        func receive() async throws(ClientError) -> LinkEvent {
            if !outcomes.isEmpty { return try outcomes.removeFirst().get() }
            if !isReceiving {
                isReceiving = true
                Task { came(await Self.message(of: task)) }
            }
            let pinging = Task { [task] in
                guard (try? await Task.sleep(for: Self.quiet)) != nil else { return }
                Self.ping(task) { await self.deliver(.success(.alive)) }
            }
            defer { pinging.cancel() }
            let task = task
            let outcome = await withTaskCancellationHandler {
                await withCheckedContinuation { reader = $0 }
            } onCancel: {
                // The request for a message then fails, which ends the reader's wait.
                task.cancel()
            }
            return try outcome.get()
        }

        private static func message(of task: URLSessionWebSocketTask) async -> Outcome {
            do {
                switch try await task.receive() {
                case .string(let text): return .success(.message(.text, Array(text.utf8)))
                case .data(let data): return .success(.message(.binary, Array(data)))
                @unknown default: return .success(.alive)
                }
            } catch {
                let code = CloseCode(rawValue: UInt16(clamping: task.closeCode.rawValue))
                let reason = task.closeReason.map { String(decoding: $0, as: UTF8.self) } ?? ""
                return .failure(.closed(code.rawValue == 0 ? .lost : code, reason: reason))
            }
        }

        private func came(_ outcome: Outcome) {
            isReceiving = false
            deliver(outcome)
        }

        private func deliver(_ outcome: Outcome) {
            if let reader {
                self.reader = nil
                reader.resume(returning: outcome)
                return
            }
            switch outcome {
            // The results that already wait show that the server is alive, so this one isn't kept.
            case .success(.alive): break
            case .success(.pong) where outcomes.count >= Self.mostWaiting: break
            case .success, .failure: outcomes.append(outcome)
            }
        }

        /// - Parameter answered: Called when a pong arrives. Without a pong, the task fails, or the session's limit of
        ///   silence ends the task.
        private static func ping(_ task: URLSessionWebSocketTask, _ answered: @escaping @Sendable () async -> Void) {
            task.sendPing { error in
                if error == nil { Task { await answered() } }
            }
        }

        func send(_ frame: LinkFrame) async throws(ClientError) {
            do {
                switch frame {
                case .message(.text, let bytes): try await task.send(.string(String(decoding: bytes, as: UTF8.self)))
                case .message(.binary, let bytes): try await task.send(.data(Data(bytes)))
                case .ping(let payload): Self.ping(task) { await self.deliver(.success(.pong(payload))) }
                case .close(let code):
                    task.cancel(with: .init(rawValue: Int(code.rawValue)) ?? .goingAway, reason: nil)
                }
            } catch { throw URLSessionTransport.failure(error) }
        }

        nonisolated func drop() {
            task.cancel()
        }
    }

    /// A link over an event stream, read line by line.
    private actor EventLineLink: Link {
        private let bytes: URLSession.AsyncBytes
        private var iterator: URLSession.AsyncBytes.AsyncIterator
        private var line: [UInt8] = []
        private var (type, data, id): (String?, [String], String?) = (nil, [], nil)

        init(_ bytes: URLSession.AsyncBytes) {
            self.bytes = bytes
            iterator = bytes.makeAsyncIterator()
        }

        func receive() async throws(ClientError) -> LinkEvent {
            var iterator = iterator
            defer { self.iterator = iterator }
            do {
                while let byte = try await iterator.next() {
                    guard byte == 0x0A else {
                        guard line.count < 64 * 1024 else { throw ClientError.garbled("an event is too long") }
                        line.append(byte)
                        continue
                    }
                    if let event = takeLine() { return event }
                }
            } catch { throw URLSessionTransport.failure(error) }
            throw .closed(.goingAway, reason: "")
        }

        private func takeLine() -> LinkEvent? {
            let text = String(decoding: line, as: UTF8.self)
            line = []
            guard !text.isEmpty else {
                defer { (type, data) = (nil, []) }
                return data.isEmpty
                    ? .alive : .event(type: type ?? "message", data: data.joined(separator: "\n"), id: id)
            }
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? String(parts[1].first == " " ? parts[1].dropFirst() : parts[1]) : ""
            switch parts[0] {
            case "event": type = value
            case "data": data.append(value)
            case "id": id = value
            default: break
            }
            return nil
        }

        func send(_ frame: LinkFrame) async throws(ClientError) {}

        nonisolated func drop() {
            bytes.task.cancel()
        }
    }
#endif
