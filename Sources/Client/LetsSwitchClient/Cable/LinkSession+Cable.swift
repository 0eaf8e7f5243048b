extension LinkSession {
    /// Returns a session of the Action Cable protocol.
    static func cable(
        _ transport: any Transport, path: String = "/cable", fields: [ClientField] = [],
        reconnect: ReconnectPolicy = .default, time: ClientTime = .system
    ) -> LinkSession {
        let request = ClientRequest(target: path, fields: fields)
        // Rails' own client offers the same subprotocols. A server that selects none uses the first one.
        let subprotocols = ["actioncable-v1-json", "actioncable-unsupported"]
        // The server pings every three seconds.
        let silence = Duration.seconds(6)
        return LinkSession(reconnect, silence: silence, pings: false, endsAtNormalClosure: false, time: time) {
            _ throws(ClientError) in
            try await transport.webSocket(request, subprotocols: subprotocols)
        }
    }
}
