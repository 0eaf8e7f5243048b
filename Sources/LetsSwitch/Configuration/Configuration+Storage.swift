import Domain

extension Configuration {
    /// What ``StorageQuota`` goes by.
    var maxStored: [StoredTable: Int] {
        [.tasks: maxStoredTasks, .addresses: maxStoredAddresses, .calendars: maxStoredCalendars]
    }
}
