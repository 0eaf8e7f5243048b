#if canImport(Glibc)
    import Wire

    /// A link over an event stream. It only receives.
    actor EventStreamLink: Link {
        private let response: StreamedResponse
        private var parser = ServerSentEventParser()
        private var events: [LinkEvent] = []

        init(_ response: StreamedResponse) {
            self.response = response
        }

        func receive() async throws(ClientError) -> LinkEvent {
            if !events.isEmpty { return events.removeFirst() }
            // A stream has no regular end, so the end means that the server stops.
            guard let bytes = try await response.next() else { throw .closed(.goingAway, reason: "") }
            do {
                events = try parser.read(bytes).map {
                    .event(type: $0.event ?? "message", data: $0.data, id: $0.id)
                }
            } catch {
                throw .garbled("an event is too long")
            }
            return events.isEmpty ? .alive : events.removeFirst()
        }

        func send(_ frame: LinkFrame) async throws(ClientError) {
            if case .close = frame { drop() }
        }

        nonisolated func drop() {
            response.connection.drop()
        }
    }
#endif
