import Domain
import Features
import Glibc
import Notifications
import Postgres
package import Settings
import Sockets
import Wire

/// The check of `letsswitchd check`. It finds whether the daemon can serve with these settings, as far as that is
/// possible without listening. The parser has already refused invalid values.
package struct ConfigurationCheck: Sendable {
    /// The lines for the terminal.
    package private(set) var report = ""
    package private(set) var isPassed = true

    /// Reads the files that the settings name.
    ///
    /// - Parameter now: Seconds since 1970.
    package init(of configuration: Configuration, at now: Int64) {
        for warning in configuration.warnings { add("warning: \(warning)") }
        add("listen: \(configuration.listen.map(\.description).joined(separator: ", "))")
        if !configuration.operationsListen.isEmpty {
            add("operations: \(configuration.operationsListen.map(\.description).joined(separator: ", "))")
        }
        addFeatures(of: configuration)
        add("hosts: \(configuration.servedHosts.description)")
        checkPublicAddress(of: configuration)
        checkStateDirectory(of: configuration)
        do throws(TLSFileError) {
            guard let context = try configuration.tlsContext() else { return }
            add(context, at: now)
        } catch {
            refuse("\(error)")
        }
    }

    private mutating func addFeatures(of configuration: Configuration) {
        let all = OptionalFeature.allCases
        let on =
            ["schedule", "reminders", "matches"] + all.filter { !configuration.leftOut.contains($0) }.map(\.rawValue)
        add("features: \(on.joined(separator: ", "))")
        let off = all.filter { configuration.leftOut.contains($0) }.map(\.rawValue)
        if !off.isEmpty { add("left out: \(off.joined(separator: ", "))") }
    }

    private mutating func checkPublicAddress(of configuration: Configuration) {
        if let publicURL = configuration.providers.publicURL { return add("public URL: \(publicURL)") }
        let open = configuration.openAddresses.map(\.description).joined(separator: ", ")
        guard !open.isEmpty else { return }
        guard configuration.namesHost else {
            return refuse(
                """
                --public-url is missing: other machines can connect to \(open), but the server doesn't know the name that \
                people use. Requests for that name are refused, and links in invitations, calendars and messages have no \
                address. Set, for example, --public-url https://example.org
                """)
        }
        add("warning: --public-url is missing: links in invitations, calendars and messages have no address")
    }

    private mutating func checkStateDirectory(of configuration: Configuration) {
        let path = configuration.stateDirectory
        if configuration.database == .privateCluster {
            add("state directory: \(path)")
            if let reason = PrivateCluster.refusal(stateDirectory: path) {
                refuse(
                    "private cluster: \(reason); --state-dir sets the directory, and --database-url another database")
            }
        } else if access(path, F_OK) == 0, let reason = StateDirectoryCheck.refusal(path) {
            // Without a private cluster, the directory holds only the socket for operators' commands.
            add("warning: operators' commands will be unavailable: \(reason); --state-dir sets the directory")
        }
    }

    /// Checks whether the providers' servers answer.
    package mutating func checkProviders(of configuration: Configuration) async {
        for line in await ProviderCheck.run(configuration.providers) {
            switch line {
            case .works(let text): add(text)
            case .warns(let text): add("warning: \(text)")
            case .fails(let text): refuse(text)
            }
        }
    }

    private mutating func add(_ context: TLSContext, at now: Int64) {
        let certificate = context.certificate
        add(
            "certificate: \(certificate.subject), serial \(certificate.serial), chain length \(certificate.chainLength)"
        )
        let days = (certificate.validUntil - now) / 86_400
        add("certificate: valid until \(Instant(seconds: Int(certificate.validUntil))), \(days) days left")
        for warning in context.warnings { add("warning: \(warning)") }
        if let refusal = certificate.refusal(at: now) { refuse(refusal) }
    }

    mutating func add(_ line: String) { report += line + "\n" }

    mutating func refuse(_ reason: String) {
        isPassed = false
        add("error: \(reason)")
    }
}
