import Crypto
import Glibc
import HTTPClient
import Wire

extension ProviderCheck {
    /// An invalid device token.
    private static let nobody = String(repeating: "0", count: 64)

    /// Checks the key, and asks Apple's two hosts, or the configured one, whether they accept it.
    static func askAPNs(_ settings: APNsSettings) async -> [Line] {
        var lines: [Line] = []
        var request: ((_ host: String) -> OutgoingRequest)?
        do {
            guard let credentials = try APNsCredentials(settings) else { return [] }
            var token = APNsToken(credentials)
            let fields = [
                HTTPField("authorization", "bearer \(try token.text(at: time(nil)))"),
                HTTPField("apns-topic", credentials.topic), HTTPField("apns-push-type", "alert"), .contentTypeJSON,
            ]
            request = { host in
                OutgoingRequest(
                    .post, "\(host)/3/device/\(nobody)", headers: fields, body: Array(#"{"aps":{"alert":""}}"#.utf8))
            }
            lines.append(
                .works("apns: key \(credentials.keyId) of team \(credentials.teamId), for \(credentials.topic)"))
        } catch {
            lines.append(.fails("apns: \(error)"))
        }
        for host in APNsProvider.hosts(settings) {
            guard let request = request?(host) else {
                lines.append(
                    await ask("apns", OutgoingRequest(.get, host), caFile: settings.caFile, "the key was not checked"))
                continue
            }
            lines.append(
                await ask("apns", request, caFile: settings.caFile, "accepts the key") { apns(APNsResponse($0)) })
        }
        return lines
    }

    /// Judges the response to an invalid device token. If everything else is right, the response is `BadDeviceToken`.
    static func apns(_ answer: APNsResponse) -> Verdict {
        switch (answer.status, answer.reason) {
        case (200, _), (400, "BadDeviceToken"): .works
        case (403, "BadEnvironmentKeyIdInToken"): .warns("the key works only in Apple's other environment")
        case (429, _), (500..., _): .warns(answer.reason)
        default: .fails(answer.reason)
        }
    }
}
