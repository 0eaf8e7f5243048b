import Domain
import Server

extension Request {
    /// The `:id` in the path.
    var pathID: String { parameters["id"] ?? "" }

    /// Returns the device's own task that the path names. Throws `invalid_request` with the name of the invalid field.
    func ownTask(of device: String?) throws(RequestError) -> OwnTask {
        try OwnTask(id: pathID, deviceId: device)
    }
}
