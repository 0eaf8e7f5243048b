/// The settings of the listeners that speak TLS.
extension Setting {
    static let tls: [Setting] = [
        file(
            "tls-certificate", \.tlsCertificate,
            "the certificate and those up to the root, in PEM; read again on SIGHUP"),
        file("tls-key", \.tlsKey, "its key, in PEM"),
    ]

    private static func file(_ name: String, _ field: Field<String?>, _ help: String) -> Setting {
        text(name, .tls, placeholder: "FILE", default: "none", help) { configuration, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "a file is wanted") }
            configuration[keyPath: field] = value
        }
    }
}
