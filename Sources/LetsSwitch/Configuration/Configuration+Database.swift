import Delivery
import Domain
import Postgres

extension Configuration {
    /// The pool for requests.
    func postgres(conninfo: String) -> PostgresConfiguration {
        var postgres = PostgresConfiguration(conninfo: conninfo, applicationName: "letsswitch")
        postgres.maxConnections = databaseConnections
        postgres.queryTimeout = databaseTimeout
        postgres.stallTimeout = databaseWait
        // Less than a request waits, so that it lives to see the connection that comes instead.
        postgres.endPatience = databaseWait * 2 / 3
        return postgres
    }

    /// What ``StorageQuota`` goes by.
    var maxStored: [StoredTable: Int] {
        [.tasks: maxStoredTasks, .addresses: maxStoredAddresses, .calendars: maxStoredCalendars]
    }

    /// Descriptors that clients' connections leave: the database's (requests', two pools of two, LISTEN's), the providers',
    /// listeners', files'.
    var reservedDescriptors: Int {
        64 + databaseConnections + 5 + providers.descriptors
    }
}
