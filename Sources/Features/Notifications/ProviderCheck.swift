import HTTPClient
import Wire

/// The check of the configured providers for `letsswitchd check`.
package struct ProviderCheck: Sendable {
    private static let patience = Duration.seconds(5)

    package enum Line: Sendable, Hashable {
        case works(String)
        /// The provider may still work.
        case warns(String)
        case fails(String)
    }

    /// The judgement of a response.
    enum Verdict: Sendable, Hashable {
        case works
        case warns(String)
        case fails(String)
    }

    /// Sends a request to each provider's server. The request has no effect there.
    package static func run(_ settings: ProviderSettings) async -> [Line] {
        guard !settings.names.isEmpty else { return [] }
        var lines: [Line] = []
        do throws(HTTPClientError) {
            lines.append(.works("providers: libcurl \(try HTTPClient.libraryVersion())"))
        } catch {
            return [.fails("providers: \(error)")]
        }
        lines += authorities(settings)
        if let url = settings.webhook.url {
            let count = settings.webhook.secrets.count
            lines.append(
                await ask(
                    "webhook", OutgoingRequest(.head, url), caFile: settings.webhook.caFile,
                    "signed with \(count == 1 ? "one secret" : "\(count) secrets")", judge: webhook))
        }
        if settings.ntfy.server != nil { lines.append(await askNtfy(settings.ntfy)) }
        if settings.apns.keyFile != nil { lines += await askAPNs(settings.apns) }
        if let contact = settings.webPush.contact {
            // There is no server to ask: browsers choose the servers, and the key is generated and stored in the
            // database.
            lines.append(.works("web push: on, contact \(contact)"))
        }
        return lines
    }

    /// Checks the files of certificate authorities.
    private static func authorities(_ settings: ProviderSettings) -> [Line] {
        [
            ("webhook", settings.webhook.caFile), ("ntfy", settings.ntfy.caFile), ("apns", settings.apns.caFile),
            ("web-push", settings.webPush.caFile),
        ].compactMap { name, file in
            guard let file else { return nil }
            do throws(SecretFile.Failure) {
                let text = try SecretFile.read(file, maximumBytes: 4 << 20)
                return text.contains("-----BEGIN") && text.contains("CERTIFICATE-----")
                    ? nil : .fails("--\(name)-ca \(file): contains no certificate in PEM")
            } catch {
                return .fails("--\(name)-ca \(file): \(error)")
            }
        }
    }

    /// Sends a request and judges the response. Any response shows that the address is right, that a server listens,
    /// and that its certificate is trusted.
    static func ask(
        _ name: String, _ request: OutgoingRequest, caFile: String?, _ remark: String,
        judge: (OutgoingResponse) -> Verdict = { _ in .works }
    ) async -> Line {
        var configuration = HTTPClient.Configuration(agent: ProviderSettings.agent)
        configuration.caFile = caFile
        configuration.timeout = patience
        configuration.allowsPrivateAddresses = true
        let client = HTTPClient(configuration)
        let line: Line
        // The report shows only the URL's origin, because the path may be a secret.
        let origin = ProviderURL(request.url)?.origin ?? ""
        do throws(HTTPClientError) {
            let answer = try await client.send(request)
            let text = "\(name): \(origin) answers (status \(answer.status))"
            line =
                switch judge(answer) {
                case .works: .works("\(text), \(remark)")
                case .warns(let reason): .warns("\(text): \(reason)")
                case .fails(let reason): .fails("\(text): \(reason)")
                }
        } catch {
            line = .fails("\(name): \(origin): \(error)")
        }
        await client.shutdown()
        return line
    }

    // MARK: Webhook and ntfy

    /// Judges a response to HEAD. Many receivers don't support HEAD (405, 501), or answer that the path isn't found.
    static func webhook(_ answer: OutgoingResponse) -> Verdict {
        switch answer.status {
        case 404, 410: .warns("the server reports that this path doesn't exist")
        case 501: .works
        case 500...: .warns("the receiver reports an internal error")
        default: .works
        }
    }

    private static func askNtfy(_ settings: NtfySettings) async -> Line {
        let server = settings.server ?? ""
        guard let token = settings.token else {
            return await ask(
                "ntfy", OutgoingRequest(.get, server + "/v1/health"), caFile: settings.caFile, "no token",
                judge: ntfy)
        }
        let request = OutgoingRequest(
            .get, server + "/v1/account", headers: [HTTPField("Authorization", "Bearer \(token)")])
        return await ask("ntfy", request, caFile: settings.caFile, "with a token", judge: ntfy)
    }

    static func ntfy(_ answer: OutgoingResponse) -> Verdict {
        switch answer.status {
        case 401, 403: .fails("the server rejects the token")
        case 404: .warns("this doesn't seem to be an ntfy server")
        case 500...: .warns("the server reports an internal error")
        default: .works
        }
    }
}
