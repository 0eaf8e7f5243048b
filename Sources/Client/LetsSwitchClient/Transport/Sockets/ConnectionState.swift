#if canImport(Glibc)
    import Basics
    import Glibc
    import Sockets

    /// The state of one connection on its loop: unread bytes, a waiting reader and waiting writers.
    final class ConnectionState: TLSHandshakeHandler {
        /// The number of unread bytes above which nothing more is read from the socket.
        private static let unreadLimit = 256 * 1024
        /// The maximum number of unsent bytes. A few messages of the greatest length fit.
        private static let unsentLimit: UInt32 = 20 << 20

        private let socket: StreamSocket
        /// The caller that waits for the end of the TLS handshake.
        private var opener: Awaited<Void>?
        private var input: [UInt8] = []
        private var reader: ConnectionTable.Reader?
        private var writers: [ConnectionTable.Writer] = []
        /// The end of the received bytes, with an error if there is one. `nil` while more can arrive.
        private var end: Result<Void, ClientError>?

        /// The socket isn't read before ``open(host:tls:by:_:)``, because the first bytes may belong to TLS.
        init(_ socket: StreamSocket) {
            self.socket = socket
            socket.handler = self
            socket.sendLimit = Self.unsentLimit
            socket.reportsDrain = true
            socket.setReading(false)
        }

        func open(host: String, tls: TLSClientContext?, by end: MonotonicTime, _ opener: Awaited<Void>) {
            guard socket.isOpen else {
                opener.bring(.failure(.unreachable("the server closed the connection")))
                return
            }
            socket.setReading(true)
            guard let tls else {
                opener.bring(.success(()))
                return
            }
            self.opener = opener
            socket.deadline = end
            socket.beginTLS(tls, to: host, handler: self)
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

        /// Ends the wait of a sender that was cancelled.
        func giveUp(_ sending: Sending) {
            guard let index = writers.firstIndex(where: { $0.sending === sending }) else { return }
            writers.remove(at: index).resume(returning: .failure(.cancelled))
        }

        /// Closes the connection, because it isn't used any more.
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
            opener?.bring(.success(()))
            opener = nil
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
