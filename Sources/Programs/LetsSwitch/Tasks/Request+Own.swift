import Domain
import Scheduling
import Server

extension Request {
    /// `:id` of the path.
    var pathID: String { parameters["id"] ?? "" }

    /// The device's own task that the path names. Throws `invalid_request`, naming the member.
    func ownTask(of device: String?) throws(RequestError) -> OwnTask {
        try OwnTask(id: pathID, deviceId: device)
    }

    /// The device's own series that the path names. Throws `invalid_request`, naming the member.
    func ownSeries(of device: String?) throws(RequestError) -> OwnSeries {
        try OwnSeries(id: pathID, deviceId: device)
    }
}
