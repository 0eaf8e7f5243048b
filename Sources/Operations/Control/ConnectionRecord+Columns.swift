import Domain
import Server
import Wire

extension ConnectionRecord {
    /// The columns of a table of connections.
    static let columns: [InspectionQuery.Column] = [
        .number("connection"), .text("kind"), .text("purpose"), .text("address"), .text("device"), .text("place"),
        .number("unsent"),
    ]

    func write(to object: inout JSONText) {
        object.member("connection", Int(clamping: id))
        object.member("kind", kind.rawValue)
        object.member("purpose", facts.purpose)
        object.member("address", address?.description)
        // The tag that the log uses. The device id is a secret: anyone who knows it can act for the device.
        object.member("device", facts.owner.map { DeviceTag($0).description })
        object.member("place", facts.place)
        object.member("unsent", unsentBytes)
    }
}
