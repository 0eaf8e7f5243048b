package import Observability
import Server
package import Sockets
import Synchronization

/// What there is to know about the certificate in use. Any thread.
package final class TLSMetrics: Sendable {
    /// What became of a request to read the certificate again.
    package enum ReloadOutcome: String, Sendable, CaseIterable {
        case succeeded, failed
    }

    package let reloads = CounterSet<ReloadOutcome>()
    /// In seconds since 1970; 0 while there is none.
    private let expiry = Atomic<Int64>(0)

    package init() {}

    package func isUsing(_ certificate: TLSCertificate) {
        expiry.store(certificate.validUntil, ordering: .relaxed)
    }

    /// Writes nothing for a server that speaks no TLS.
    func write(_ counters: LoopCounters, to text: inout MetricsText) {
        let expiry = expiry.load(ordering: .relaxed)
        guard expiry != 0 else { return }
        text.counter("letsswitch_tls_handshakes_total", "TLS handshakes completed.", counters.tlsHandshakes)
        text.counter(
            "letsswitch_tls_handshakes_failed_total", "TLS handshakes that failed, by cause.",
            TLSHandshakeFailure.allCases.map {
                MetricSample(["cause": $0.rawValue], counters.failedTLSHandshakes[$0] ?? 0)
            })
        text.gauge(
            "letsswitch_tls_certificate_expiry_timestamp_seconds", "When the certificate in use expires.",
            Double(expiry))
        text.counter(
            "letsswitch_tls_certificate_reloads_total", "Requests to read the certificate again, by outcome.",
            reloads.samples(label: "outcome"))
    }
}
