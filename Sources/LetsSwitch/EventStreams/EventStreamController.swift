import Domain
import FoundationEssentials
import Scheduling
import Server
import Sockets
import Wire

/// `GET /reminders?deviceId=…&from=…&to=…`: the device's reminders as they fire, and changes of the slots between two instants,
/// as server-sent events.
struct EventStreamController: RouteCollection, Sendable {
    let streams: EventStreams
    /// The device's reminders whose task has not started, as they stand to the one with this id.
    let backlog: @Sendable (DeviceID, UUID?) async throws -> ReminderBacklog

    func boot(routes: RoutesBuilder) {
        routes.get("reminders", use: follow)
    }

    @Sendable private func follow(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        let window = try ChangeWindow(from: request.query("from"), to: request.query("to"))
        let last = request.head.headers.value("Last-Event-ID").flatMap(UUID.init(text:))
        let headers = [
            HTTPField("Content-Type", "text/event-stream"), HTTPField("Cache-Control", "no-store"),
            // A proxy that gathers bytes would hold the reminder back.
            HTTPField("X-Accel-Buffering", "no"),
        ]
        guard request.head.method == .get else { return Response(headers: headers, body: .stream { $0.finish() }) }

        let loop = request.loop
        guard await streams.takePlace(for: device) else {
            throw Abort(
                .tooManyRequests, code: "too_many_streams", reason: "The device has as many streams open as it may.",
                headers: [HTTPField("Retry-After", "15")])
        }
        let reservation = await loop.run { streams.shard(on: $0).reserve(device, window: window) }
        do {
            let backlog = try await backlog(device, last)
            return Response(
                headers: headers,
                body: .stream { stream in
                    streams.shard(on: stream.reactor).begin(reservation, stream, backlog: backlog)
                })
        } catch {
            await loop.run { streams.shard(on: $0).cancel(reservation) }
            throw error
        }
    }
}
