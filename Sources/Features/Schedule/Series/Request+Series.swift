import Domain
import Server

extension Request {
    /// Returns the device's own series that the path names. Throws `invalid_request` with the name of the invalid
    /// field.
    func ownSeries(of device: String?) throws(RequestError) -> OwnSeries {
        try OwnSeries(id: pathID, deviceId: device)
    }
}
