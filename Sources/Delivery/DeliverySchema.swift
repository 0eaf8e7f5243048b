package import Postgres

/// The functions of the database that deliveries need: `SQL/`.
package enum DeliverySchema {
    package static let scripts = [
        script("addresses", PackageResources.addresses_sql), script("providers", PackageResources.providers_sql),
        script("deliveries", PackageResources.deliveries_sql), script("notices", PackageResources.notices_sql),
        script("events", PackageResources.events_sql), script("attendance", PackageResources.attendance_sql),
        script("forgetting", PackageResources.forgetting_sql),
    ]

    private static func script(_ name: String, _ sql: [UInt8]) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(decoding: sql, as: UTF8.self))
    }
}
