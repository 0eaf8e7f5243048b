extension LinkSession {
    /// A connection to a server's cable, as its protocol wants it.
    static func cable(
        _ transport: any Transport, path: String = "/cable", fields: [ClientField] = [],
        reconnect: ReconnectPolicy = .default, time: ClientTime = .system
    ) -> LinkSession {
        let request = ClientRequest(target: path, fields: fields)
        // As Rails' own client offers them; servers that know neither mean the first.
        let subprotocols = ["actioncable-v1-json", "actioncable-unsupported"]
        // The server pings every three seconds.
        let silence = Duration.seconds(6)
        return LinkSession(reconnect, silence: silence, pings: false, endsAtNormalClosure: false, time: time) {
            _ throws(ClientError) in
            try await transport.webSocket(request, subprotocols: subprotocols)
        }
    }
}
