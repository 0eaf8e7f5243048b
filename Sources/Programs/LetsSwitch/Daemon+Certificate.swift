import Basics
import Domain
import Glibc
import Observability
import Server
import Settings
import Sockets

/// The certificate's way into the daemon: at the start, and again on SIGHUP.
extension Daemon {
    /// - Returns: `nil` when no TLS is asked for.
    /// - Throws: ``TLSFileError``: without the certificate that it was told to use the daemon doesn't start.
    func loadCertificate() throws(TLSFileError) -> TLSContext? {
        guard let context = try configuration.tlsContext() else { return nil }
        metrics.tls.isUsing(context.certificate)
        report("certificate", context)
        return context
    }

    /// Reads the certificate and its key again: new connections get it, open ones keep theirs. If it can't be used, the old one
    /// goes on. Anything else that is set stays as it is.
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
