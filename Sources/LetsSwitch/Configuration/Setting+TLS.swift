/// The settings of the listeners that speak TLS.
extension Setting {
    static let tls: [Setting] = [
        file(
            "tls-certificate", \.tlsCertificate,
            "the certificate and those up to the root, in PEM; read again on SIGHUP"
        ).mayBeCredential,
        file("tls-key", \.tlsKey, "its key, in PEM").mayBeCredential,
        duration(
            "hsts", \.strictTransport, in: .zero ... .seconds(3_650 * 86_400), .tls,
            "how long browsers use nothing but TLS with this host, on any port; 0 leaves it to them"),
    ]

    private static func file(_ name: String, _ field: Field<String?>, _ help: String) -> Setting {
        text(name, .tls, placeholder: "FILE", default: "none", help) { configuration, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "a file is wanted") }
            configuration[keyPath: field] = value
        }
    }
}
