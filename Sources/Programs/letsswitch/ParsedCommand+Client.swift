import LetsSwitchClient

extension ParsedCommand {
    /// Returns a client for the device of `--device`, or for this user's own device.
    func client() throws(UsageError) -> LetsSwitchClient {
        LetsSwitchClient(server, deviceID: try deviceID())
    }

    /// A client for requests that need no device.
    var anonymous: LetsSwitchClient { LetsSwitchClient(server, deviceID: "") }

    /// Returns a client for entering a room, which is possible without a device.
    func visitor() throws(UsageError) -> LetsSwitchClient {
        device == nil && DeviceFile(environment: Environment.value) == nil ? anonymous : try client()
    }

    private func deviceID() throws(UsageError) -> String {
        if let device { return device }
        guard let file = DeviceFile(environment: Environment.value) else {
            throw UsageError(reason: "there is no device id: set HOME or use --device")
        }
        return try file.read()
    }
}
