import Access
import Daemons
import Features
import Glibc
import Notifications
import Questions
import Schedule
import Server

extension Configuration {
    /// Creates the defaults, changed by conventional environment variables: `PORT` (hosting platforms), `DATABASE_URL`
    /// and libpq's variables, `STATE_DIRECTORY`, `NOTIFY_SOCKET` and `WATCHDOG_USEC` (systemd). `LETSSWITCH_…`
    /// variables and flags override them.
    ///
    /// - Throws: ``UsageError`` that names the variable.
    init(environment: [String: String]) throws(UsageError) {
        self.init()
        if let text = environment["PORT"], !text.isEmpty {
            do {
                listen = [.tcp(host: "0.0.0.0", port: try ListenAddress.port(text[...], in: text))]
            } catch {
                throw UsageError(source: "PORT", error)
            }
        }
        database = try DatabaseChoice(environment: environment)
        // systemd.exec(5): colons separate several directories. The service's unit names one.
        if let first = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
            stateDirectory = String(first)
        }
        notifySocket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        watchdog = Self.watchdog(environment)
    }

    /// Returns systemd's time limit, as in sd_watchdog_enabled(3). `WATCHDOG_PID` names the process that must report,
    /// or isn't set.
    private static func watchdog(_ environment: [String: String]) -> Duration? {
        if let pid = environment["WATCHDOG_PID"], !pid.isEmpty, pid != "\(getpid())" { return nil }
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else {
            return nil
        }
        return .microseconds(microseconds)
    }

    /// Checks the settings that depend on each other.
    ///
    /// - Throws: ``UsageError`` that names both flags.
    func checkCombinations() throws(UsageError) {
        try checkTLS()
        if let twice = operationsListen.first(where: { listen.contains($0) && !$0.takesFreePort }) {
            throw UsageError("--operations-listen: \(twice) must not be an address of --listen too")
        }
        try checkFeatures()
        do {
            try providers.checkCombinations()
        } catch {
            throw UsageError(error)
        }
        guard !tickets.areRequired || !tickets.secrets.isEmpty else {
            throw UsageError("--require-tickets: --ticket-secret is missing")
        }
        guard bus != .amqp || amqpURL != nil else { throw UsageError("--bus: amqp requires --amqp-url") }
        let frame = limits.maxMessageBytes + Self.maxFrameHeaderBytes
        guard limits.sendQueueBytes >= frame else {
            throw UsageError(
                "--send-queue-bytes: must be at least \(frame), to hold one message of --max-message-bytes"
            )
        }
        guard schedule.retention >= schedule.roomDuration else {
            throw UsageError(
                "--retention: must not be shorter than --room-duration: tasks would be deleted while their room is open"
            )
        }
    }

    /// Refuses settings of a feature that is left out, because they would have no effect.
    private func checkFeatures() throws(UsageError) {
        if leftOut.contains(.questions), questions.hasOpenSession {
            throw UsageError("--without questions: --open-questions needs questions; remove one of the two")
        }
        if leftOut.contains(.conversations), amqpURL != nil, bus != .amqp {
            throw UsageError(
                "--without conversations: --amqp-url connects conversations with RabbitMQ; remove one of the two, or set --bus amqp"
            )
        }
        if leftOut.contains(.notifications), let name = providers.names.first {
            throw UsageError(
                "--without notifications: a provider is configured (\(name.rawValue)); remove its flags or --without")
        }
    }

    private func checkTLS() throws(UsageError) {
        let speaksTLS = (listen + operationsListen).contains { if case .tls = $0 { true } else { false } }
        switch (tlsCertificate, tlsKey, speaksTLS) {
        case (nil, nil, false), (.some, .some, true): break
        case (.some, nil, _): throw UsageError("--tls-certificate: --tls-key is missing")
        case (nil, .some, _): throw UsageError("--tls-key: --tls-certificate is missing")
        case (nil, nil, true): throw UsageError("--listen: TLS requires --tls-certificate and --tls-key")
        case (.some, .some, false):
            throw UsageError(
                "--tls-certificate: no address of --listen uses TLS; add one, such as --listen tls:0.0.0.0:443")
        }
    }

    /// The maximum header of a frame (RFC 6455 §5.2): two bytes, and eight bytes of length. A server's frames have no
    /// mask.
    private static let maxFrameHeaderBytes = 10
}
