package import Observability
import Server
package import Sockets
import Synchronization

/// The metrics of the certificate in use. Any thread may use them.
package final class TLSMetrics: Sendable {
    /// The outcome of a request to read the certificate again.
    package enum ReloadOutcome: String, Sendable, CaseIterable {
        case succeeded, failed
    }

    package let reloads = CounterSet<ReloadOutcome>()
    /// The time at which the certificate expires, in seconds since 1970. 0 without a certificate.
    private let expiry = Atomic<Int64>(0)

    package init() {}

    package func isUsing(_ certificate: TLSCertificate) {
        expiry.store(certificate.validUntil, ordering: .relaxed)
    }

    /// Writes nothing if the server doesn't use TLS.
    func write(_ counters: LoopCounters, to text: inout MetricsText) {
        let expiry = expiry.load(ordering: .relaxed)
        guard expiry != 0 else { return }
        text.counter("letsswitch_tls_handshakes_total", "Number of completed TLS handshakes.", counters.tlsHandshakes)
        text.counter(
            "letsswitch_tls_handshakes_failed_total", "Number of failed TLS handshakes, by cause.",
            TLSHandshakeFailure.allCases.map {
                MetricSample(["cause": $0.rawValue], counters.failedTLSHandshakes[$0] ?? 0)
            })
        text.gauge(
            "letsswitch_tls_certificate_expiry_timestamp_seconds",
            "Time when the certificate in use expires, in seconds since 1970.",
            Double(expiry))
        text.counter(
            "letsswitch_tls_certificate_reloads_total", "Number of requests to read the certificate again, by outcome.",
            reloads.samples(label: "outcome"))
    }
}
