import HTTPClient
import Wire

/// What `letsswitchd check` says of the channels that are configured: whether they could send.
struct ChannelCheck: Sendable {
    private static let patience = Duration.seconds(5)

    enum Line: Sendable, Hashable {
        case works(String)
        case fails(String)
    }

    /// Asks each channel's server for an answer. Sends nothing that means anything to it.
    static func run(_ settings: ChannelSettings) async -> [Line] {
        guard !settings.names.isEmpty else { return [] }
        var lines: [Line] = []
        do throws(HTTPClientError) {
            lines.append(.works("channels: libcurl \(try HTTPClient.libraryVersion())"))
        } catch {
            return [.fails("channels: \(error)")]
        }
        if let url = settings.webhook.url {
            let count = settings.webhook.secrets.count
            lines.append(
                await ask(
                    "webhook", .head, url, caFile: settings.webhook.caFile,
                    "signed with \(count == 1 ? "one secret" : "\(count) secrets")"))
        }
        if let server = settings.ntfy.server {
            lines.append(
                await ask(
                    "ntfy", .get, server + "/v1/health", caFile: settings.ntfy.caFile,
                    settings.ntfy.token == nil ? "no token" : "with a token"))
        }
        if settings.apns.keyFile != nil { lines += await askAPNs(settings.apns) }
        if let contact = settings.webPush.contact {
            // The key is made and kept in the database; whom it goes to, browsers decide.
            lines.append(.works("web push: on, contact \(contact)"))
        }
        return lines
    }

    /// Whether the key is one, and Apple's hosts (both, or the one that is named instead) are there.
    private static func askAPNs(_ settings: APNsSettings) async -> [Line] {
        var lines: [Line] = []
        do throws(APNsKeyError) {
            guard let credentials = try APNsCredentials(settings) else { return [] }
            lines.append(
                .works("apns: key \(credentials.keyId) of team \(credentials.teamId), for \(credentials.topic)"))
        } catch {
            lines.append(.fails("apns: \(error)"))
        }
        for host in APNsChannel.hosts(settings) {
            lines.append(await ask("apns", .get, host, caFile: settings.caFile, "not asked to send anything"))
        }
        return lines
    }

    /// Any answer will do: the address is right, somebody is there, and the certificate is trusted.
    static func ask(
        _ name: String, _ method: HTTPMethod, _ url: String, caFile: String?, _ remark: String
    ) async -> Line {
        var configuration = HTTPClient.Configuration()
        configuration.caFile = caFile
        configuration.timeout = patience
        configuration.allowsPrivateAddresses = true
        let client = HTTPClient(configuration)
        let line: Line
        // A path may be a secret; the origin tells where it is enough.
        let origin = ChannelURL(url)?.origin ?? ""
        do throws(HTTPClientError) {
            let answer = try await client.send(OutgoingRequest(method, url))
            line = .works("\(name): \(origin) answers (status \(answer.status)), \(remark)")
        } catch {
            line = .fails("\(name): \(origin): \(error)")
        }
        await client.shutdown()
        return line
    }
}
