import Observability
import Testing

@testable import Domain

@Suite struct StorageQuotaTests {
    @Test("A table is full when counted and added rows reach its limit")
    func full() {
        let quota = StorageQuota(StorageLimits(tasks: 3, addresses: 1, calendars: 2_000_000))
        #expect(!quota.isFull(.tasks) && !quota.isFull(.addresses))
        quota.found([.tasks: 2, .addresses: 1, .calendars: 1_000_000], since: quota.added)
        #expect(!quota.isFull(.tasks) && quota.isFull(.addresses))
        quota.added(.tasks)
        #expect(quota.isFull(.tasks))
        // The next count replaces all earlier numbers.
        quota.found([.tasks: 2], since: quota.added)
        #expect(!quota.isFull(.tasks) && !quota.isFull(.addresses))
        quota.found([.tasks: 2, .addresses: 0, .calendars: 2_000_001], since: quota.added)
        #expect(quota.isFull(.calendars) && !quota.isFull(.tasks))
        // Rows added during the count may be missing in it.
        let before = quota.added
        quota.added(.tasks)
        quota.found([.tasks: 2], since: before)
        #expect(quota.isFull(.tasks))
    }

    @Test("`/metrics` shows how full the tables are")
    func metrics() {
        let quota = StorageQuota(StorageLimits(tasks: 3, addresses: 10, calendars: 9))
        quota.found([.tasks: 2, .calendars: 7], since: quota.added)
        var text = MetricsText()
        quota.write(to: &text)
        let page = String(decoding: text.bytes, as: UTF8.self)
        for line in [
            #"letsswitch_stored_rows{table="tasks"} 2"#, #"letsswitch_stored_rows{table="addresses"} 0"#,
            #"letsswitch_stored_rows{table="calendars"} 7"#, #"letsswitch_stored_rows_limit{table="tasks"} 3"#,
            #"letsswitch_stored_rows_limit{table="calendars"} 9"#,
        ] {
            #expect(page.contains(line + "\n"))
        }
    }
}
