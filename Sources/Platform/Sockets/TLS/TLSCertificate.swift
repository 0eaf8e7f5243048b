import COpenSSL
import Glibc

/// Information about a certificate, for operators.
package struct TLSCertificate: Sendable, Equatable {
    /// The subject's name, or the certificate's first host name, such as `CN=example.org`.
    package let subject: String
    /// The serial number in hexadecimal, as other tools show it.
    package let serial: String
    /// The start of the validity, in seconds since 1970.
    package let validFrom: Int64
    /// The end of the validity, in seconds since 1970.
    package let validUntil: Int64
    /// The number of certificates that a client receives: the server's and the intermediate ones.
    package let chainLength: Int

    /// Returns the reason why clients refuse the certificate at `now` (in seconds since 1970). Returns `nil` if it is
    /// valid.
    package func refusal(at now: Int64) -> String? {
        if now < validFrom { return "the certificate is not valid yet" }
        if now > validUntil { return "the certificate has expired" }
        return nil
    }

    /// - Returns: `nil` if the certificate's times can't be read.
    init?(_ certificate: OpaquePointer, chainLength: Int) {
        guard let from = Self.seconds(X509_get0_notBefore(certificate)),
            let until = Self.seconds(X509_get0_notAfter(certificate))
        else { return nil }
        (validFrom, validUntil) = (from, until)
        self.chainLength = chainLength
        var name = [CChar](repeating: 0, count: 256)
        X509_NAME_oneline(X509_get_subject_name(certificate), &name, CInt(name.count))
        let subject = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.subject = subject.hasPrefix("/") ? String(subject.dropFirst()) : subject
        let serial = X509_get0_serialNumber(certificate)
        let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(serial), count: Int(ASN1_STRING_length(serial)))
        self.serial = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }
}
