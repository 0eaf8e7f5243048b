import TestSupport

extension TestHeaders {
    /// The field in which a proxy names its client.
    static func forwarded(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }
}
