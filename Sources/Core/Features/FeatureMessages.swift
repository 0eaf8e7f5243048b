package import ActionCable
package import Server
package import Wire

/// The JSON Schemas of the messages that a feature sends and receives.
package struct FeatureMessages: Sendable {
    /// A stream of server-sent events.
    package struct Stream: Sendable {
        /// The path of the stream's route.
        package let path: String
        /// The schemas of the data, by the events' names.
        package let events: [(name: String, data: JSONSchema)]

        package init(_ path: String, _ events: [(name: String, data: JSONSchema)]) {
            self.path = path
            self.events = events
        }
    }

    /// The messages of the feature's own WebSockets.
    package let documents: [MessageSchemas]
    /// The messages that subscribers of the feature's Action Cable channels receive.
    package let contents: [CableContentSchema]
    package let streams: [Stream]

    package init(documents: [MessageSchemas] = [], contents: [CableContentSchema] = [], streams: [Stream] = []) {
        self.documents = documents
        self.contents = contents
        self.streams = streams
    }
}
