import Domain
import FoundationEssentials
package import Server
import Sockets
import Wire

/// Streams a device's reminders and the changes of slots between two instants as server-sent events:
/// `GET /reminders?deviceId=…&from=…&to=…`.
package struct EventStreamController: RouteCollection {
    private let source: ReminderSource

    package init(_ source: ReminderSource) {
        self.source = source
    }

    package func boot(routes: RoutesBuilder) {
        routes.get("reminders", as: EventStreamDescriptions.reminders, use: follow)
    }

    @Sendable private func follow(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        let window = try ChangeWindow(from: request.query("from"), to: request.query("to"))
        let last = request.head.headers.value("Last-Event-ID").flatMap(UUID.init(text:))
        let headers = [
            HTTPField("Content-Type", "text/event-stream"),
            // A proxy that compresses the stream would delay events.
            HTTPField("Cache-Control", "no-store, no-transform"),
            // A proxy that buffers the stream would delay reminders.
            HTTPField("X-Accel-Buffering", "no"),
        ]
        guard request.head.method == .get else { return Response(headers: headers, body: .stream { $0.finish() }) }

        guard let opened = try await source.open(device, window: window, after: last, on: request.loop) else {
            throw Abort(
                .tooManyRequests, code: "too_many_streams",
                reason: "This device already has the maximum number of open reminder streams. Close one first.",
                headers: [HTTPField("Retry-After", "15")])
        }
        return Response(
            headers: headers,
            body: .stream { stream in
                stream.facts = { ConnectionFacts("reminders", owner: device.text) }
                source.begin(opened, stream, on: stream.reactor)
            })
    }
}
