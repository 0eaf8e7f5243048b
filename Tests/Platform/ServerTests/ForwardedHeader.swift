import TestSupport

extension TestHeaders {
    /// Returns the field with which a proxy names its client.
    static func forwarded(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }
}
