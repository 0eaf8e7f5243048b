import ActionCable
package import Features
package import Server

extension MessageSchemas {
    /// Returns the documents that each feature wrote, and two documents that join parts of all features: `cable` and
    /// `events`.
    package static func documents(of features: [FeatureMessages]) -> [MessageSchemas] {
        let streams = features.flatMap(\.streams)
        return features.flatMap(\.documents) + [
            CableDescriptions.schemas(features.flatMap(\.contents)),
            MessageSchemas(
                name: "events",
                title:
                    """
                    The data of server-sent events by the event's name: \
                    \(streams.map(\.path).joined(separator: " and "))
                    """,
                parts: streams.flatMap { stream in stream.events.map { ($0.name, $0.data) } }),
        ]
    }
}
