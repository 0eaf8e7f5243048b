import Foundation

/// The clock that the scripts of a page read, which a test can set. JavaScript for the page's documents.
enum PageClock {
    /// Runs before the page's own scripts. Once a test has set the clock, the `Date` of the server's answers says that time, too: the pages
    /// go by it.
    static let script = """
        ;{
            const now = Date.now.bind(Date), get = Headers.prototype.get
            let read = null
            window.setTestClock = clock => { read = clock }
            Date.now = () => read ? read(now()) : now()
            Headers.prototype.get = function (name) {
                const value = get.call(this, name)
                return read && value && name.toLowerCase() === 'date' ? new Date(Date.now()).toUTCString() : value
            }
        }
        """

    /// Sets the clock to a moment, from which it runs on, or at which it stands.
    static func setting(to moment: Date, stopped: Bool) -> String {
        let milliseconds = Int((moment.timeIntervalSince1970 * 1_000).rounded())
        let ahead = Int(moment.timeIntervalSinceNow * 1_000)
        return ";setTestClock(now => \(stopped ? "\(milliseconds)" : "now + \(ahead)"));"
    }
}
