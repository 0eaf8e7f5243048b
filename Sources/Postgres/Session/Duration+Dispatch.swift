package import Dispatch

extension Duration {
    /// For Dispatch's timers; saturates far beyond any wait of ours.
    package var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return .never }
        return .nanoseconds(Int(whole + attoseconds / 1_000_000_000))
    }
}
