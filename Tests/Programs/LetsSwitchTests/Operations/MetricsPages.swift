import Foundation
import JourneyTestSupport
import TestSupport

/// The files about metrics: the document, the alert rules and the dashboard.
enum MetricsPages {
    static let directory = Checkout.url("Sources/Programs/LetsSwitch/Operations")

    static func text(_ path: String) throws -> String {
        try String(contentsOf: directory.appending(path: path), encoding: .utf8)
    }

    /// A row of METRICS.md about one metric family.
    struct Row {
        let name: String
        let unit: String
        let meaning: String
    }

    static func documented() throws -> [Row] {
        try text("METRICS.md").split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `letsswitch_") || line.hasPrefix("| `process_") else { return nil }
            let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5 else { throw ClientFailure.violation("no row: \(line)") }
            return Row(name: cells[0].replacing("`", with: ""), unit: cells[1], meaning: cells[2])
        }
    }

    /// Returns the metric families of a metrics page.
    static func families(_ page: String) -> Set<String> {
        Set(page.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) })
    }

    /// Returns the metric families that a file's expressions use.
    static func asked(_ path: String) throws -> Set<String> {
        let names = try text(path).matches(of: #/\b(letsswitch|process)_[a-z_]+\b/#).map { String($0.output.0) }
        return Set(
            names.map { name in
                ["_bucket", "_sum", "_count"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) }
                    ?? name
            })
    }
}

/// Daemons with TLS, providers and each other, so that every metric family exists.
struct CountingDaemons {
    /// Kept because its files are removed with it.
    private let authority: TestAuthority
    private let daemon: DaemonProcess
    private let endpoint: ClientEndpoint

    init(_ journey: Journey) async throws {
        authority = try await TestAuthority()
        let identity = try await authority.issue()
        // No server listens at the webhook's and the broker's addresses. Their metrics exist all the same.
        (daemon, endpoint) = try await journey.process([
            "--listen", "tls:127.0.0.1:0", "--tls-certificate", identity.certificate, "--tls-key", identity.key,
            "--open-rooms", "--webhook-url", "http://127.0.0.1:9/", "--webhook-secret",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "--amqp-url", "amqp://127.0.0.1:9",
        ])
        _ = try await journey.daemon()
        let peer = try await endpoint.enter(UUID())
        await peer.close()
    }

    /// Returns `/metrics` as soon as it has all wanted families, or at the deadline.
    func page(with wanted: Set<String>) async throws -> String {
        var page = ""
        try? await eventually("all metrics") {
            page = try await endpoint.get("/metrics").text
            return MetricsPages.families(page).isSuperset(of: wanted)
        }
        return page
    }
}
