import TestSupport

extension TestHeaders {
    /// What a proxy says of whom it asks for.
    static func forwarded(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }
}
