import Basics
import Domain
import Glibc
import Observability
import Server
import Settings
import Sockets

/// Loads the certificate at start, and again on SIGHUP.
extension Daemon {
    /// - Returns: `nil` if TLS isn't configured.
    /// - Throws: ``TLSFileError``. The daemon doesn't start without its configured certificate.
    func loadCertificate() throws(TLSFileError) -> TLSContext? {
        guard let context = try configuration.tlsContext() else { return nil }
        metrics.tls.isUsing(context.certificate)
        report("certificate", context)
        return context
    }

    /// Reads the certificate and its key again. New connections use the new certificate, and open connections keep the
    /// old one. If the new certificate is unusable, the old one stays in use. Other settings don't change.
    package func reload() async {
        guard !isStopping, let application else { return }
        notifier.reloading(at: .now())
        defer { notifier.ready(status: status) }
        do throws(TLSFileError) {
            guard let context = try configuration.tlsContext() else {
                return log.info("nothing to reload", ["reason": "no certificate is in use"])
            }
            await application.replaceTLS(context)
            metrics.tls.isUsing(context.certificate)
            metrics.tls.reloads.add(.succeeded)
            report("certificate reloaded", context)
        } catch {
            metrics.tls.reloads.add(.failed)
            log.warning("certificate not reloaded", ["error": .string("\(error)")])
        }
    }

    private func report(_ event: String, _ context: TLSContext) {
        let certificate = context.certificate
        log.info(
            event,
            [
                "subject": .string(certificate.subject), "serial": .string(certificate.serial),
                "validUntil": .string("\(Instant(seconds: Int(certificate.validUntil)))"),
            ])
        let refusal = certificate.refusal(at: Int64(time(nil)))
        for warning in context.warnings + (refusal.map { [$0] } ?? []) {
            log.warning("certificate", ["warning": .string(warning)])
        }
    }
}
