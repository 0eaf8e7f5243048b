#if canImport(Glibc)
    import Basics
    import Glibc
    import Sockets

    /// The state of one connection on its loop: unread bytes, a waiting reader and waiting writers.
    final class ConnectionState: TLSHandshakeHandler {
        /// The number of unread bytes beyond which the socket isn't read.
        private static let unreadLimit = 256 * 1024
        /// The maximum number of unsent bytes: a few of the longest messages.
        private static let unsentLimit: UInt32 = 20 << 20

        private let socket: StreamSocket
        private let number: UInt64
        private var opener: ConnectionTable.Opener?
        /// Called if the connection never opened, because then no caller drops it.
        private let neverOpened: () -> Void
        private var input: [UInt8] = []
        private var reader: ConnectionTable.Reader?
        private var writers: [ConnectionTable.Writer] = []
        /// The end of the received bytes, with an error if there is one. `nil` while more can arrive.
        private var end: Result<Void, ClientError>?

        init(_ socket: StreamSocket, number: UInt64, neverOpened: @escaping () -> Void) {
            self.socket = socket
            self.number = number
            self.neverOpened = neverOpened
            socket.handler = self
            socket.sendLimit = Self.unsentLimit
            socket.reportsDrain = true
        }

        func begin(host: String, tls: TLSClientContext?, by end: MonotonicTime, _ opener: ConnectionTable.Opener) {
            self.opener = opener
            guard let tls else { return opened() }
            socket.deadline = end
            socket.beginTLS(tls, to: host, handler: self)
        }

        private func opened() {
            guard let opener else { return }
            self.opener = nil
            guard !opener.bring(.success(number)) else { return }
            // The caller was cancelled meanwhile.
            neverOpened()
            socket.close()
        }

        func read(_ reader: ConnectionTable.Reader) {
            if !input.isEmpty {
                reader.resume(returning: .success(input))
                input = []
                socket.setReading(true)
            } else if let end {
                reader.resume(returning: end.map { nil })
            } else if self.reader != nil {
                reader.resume(returning: .failure(.bufferFull))
            } else {
                self.reader = reader
            }
        }

        func send(_ bytes: [UInt8], _ writer: ConnectionTable.Writer?) {
            guard socket.isOpen else {
                writer?.resume(returning: .failure(.closed(.lost, reason: "")))
                return
            }
            if let writer {
                guard !writer.sending.isCancelled else { return writer.resume(returning: .failure(.cancelled)) }
                writers.append(writer)
            }
            socket.enqueue(SharedBytes(bytes))
        }

        /// Ends the wait of a sender.
        func giveUp(_ sending: Sending) {
            guard let index = writers.firstIndex(where: { $0.sending === sending }) else { return }
            writers.remove(at: index).resume(returning: .failure(.cancelled))
        }

        /// Closes the connection, which isn't used any more.
        func drop() {
            fail(.cancelled)
            // Allows one second to send the remaining bytes, such as a close frame.
            socket.finish(sending: .seconds(1))
        }

        private func fail(_ error: ClientError) {
            if end == nil { end = .failure(error) }
            reader?.resume(returning: .failure(error))
            reader = nil
            let waiting = writers
            writers = []
            for writer in waiting { writer.resume(returning: .failure(error)) }
            refuse(error)
        }

        private func refuse(_ error: ClientError) {
            guard let opener else { return }
            self.opener = nil
            opener.bring(.failure(error))
            neverOpened()
        }

        // MARK: The socket

        func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
            if let reader {
                self.reader = nil
                reader.resume(returning: .success(Array(bytes)))
            } else {
                input.append(contentsOf: bytes)
                if input.count >= Self.unreadLimit { socket.setReading(false) }
            }
        }

        func socketReceivedEnd(_ socket: StreamSocket) {
            if end == nil { end = .success(()) }
            reader?.resume(returning: .success(nil))
            reader = nil
            guard opener != nil else { return }
            refuse(.unreachable("the server closed the connection during the TLS handshake"))
            socket.close()
        }

        func socketDidDrain(_ socket: StreamSocket) {
            let sent = writers
            writers = []
            for writer in sent { writer.resume(returning: .success(())) }
        }

        func socketDeadlinePassed(_ socket: StreamSocket) {
            guard opener != nil else { return }
            fail(.unreachable("the server didn't answer the TLS handshake in time"))
            socket.close()
        }

        func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
            switch cause {
            case .failed(let code):
                let reason = String(cString: strerror(code))
                fail(opener == nil ? .closed(.lost, reason: reason) : .unreachable(reason))
            case .closedHere, .loopStopped: fail(.closed(.lost, reason: ""))
            case .sendQueueFull: fail(.bufferFull)
            }
        }

        func serverStops(_ socket: StreamSocket) {}

        // MARK: TLS

        func socketDidSecure(_ socket: StreamSocket) {
            socket.deadline = .distantFuture
            opened()
        }

        func socket(
            _ socket: StreamSocket, handshakeFailed failure: TLSHandshakeFailure, because reason: String
        ) {
            fail(.untrusted(reason.isEmpty ? "the server doesn't use TLS" : reason))
            // The TLS alert is still sent.
            socket.finish(sending: .seconds(1))
        }
    }
#endif
