import Delivery

extension Configuration {
    /// Descriptors that clients' connections leave: the database's (requests', two pools of two, LISTEN's), the providers',
    /// listeners', files'.
    var reservedDescriptors: Int {
        64 + databaseConnections + 5 + providers.descriptors
    }
}
