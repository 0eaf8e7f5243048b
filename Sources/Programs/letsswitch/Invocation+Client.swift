import LetsSwitchClient

extension Invocation {
    /// For the device that was given, else this user's own.
    func client() throws(UsageError) -> LetsSwitchClient {
        LetsSwitchClient(server, deviceID: try deviceID())
    }

    /// For what asks nobody who one is.
    var nobody: LetsSwitchClient { LetsSwitchClient(server, deviceID: "") }

    /// Who has no id of one's own can be in a room all the same.
    func visitor() throws(UsageError) -> LetsSwitchClient {
        device == nil && DeviceFile(environment: Environment.value) == nil ? nobody : try client()
    }

    private func deviceID() throws(UsageError) -> String {
        if let device { return device }
        guard let file = DeviceFile(environment: Environment.value) else {
            throw UsageError(reason: "neither HOME nor --device is set")
        }
        return try file.read()
    }
}
