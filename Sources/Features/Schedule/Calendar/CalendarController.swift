import Crypto
import Domain
import Observability
import Server
import Wire

/// Serves a device's tasks to calendar programs. `POST /calendar` creates the feed, `GET /calendar/<secret>.ics`
/// returns it, `DELETE /calendar` removes it.
struct CalendarController: RouteCollection {
    let store: CalendarStore
    /// The public address of this server, without a slash at the end. `nil` if it isn't configured.
    let publicURL: String?
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("calendar", as: CalendarDescriptions.subscribe, registers: true, use: subscribe)
        routes.delete("calendar", as: CalendarDescriptions.revoke, use: revoke)
        routes.get("calendar", ":file", as: CalendarDescriptions.read, use: read)
    }

    @Sendable private func subscribe(_ request: Request) async throws -> Response {
        let device = try DeviceRequest.decode(request.body).device
        let secret = try await store.secret(of: device, candidate: .make())
        log.info("calendar address issued", ["device": .device(device)])
        var json = JSONText()
        json.object { $0.member("url", (publicURL ?? "") + secret.path) }
        return .json(json.bytes)
    }

    @Sendable private func revoke(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        try await store.revoke(device)
        log.info("calendar revoked", ["device": .device(device)])
        return .json(Array("{}".utf8))
    }

    @Sendable private func read(_ request: Request) async throws -> Response {
        guard let secret = request.parameters["file"].flatMap(CalendarSecret.init(fileName:)),
            let feed = try await store.read(secret)
        else { throw Abort(.notFound, code: "no_such_calendar", reason: "There is no such calendar.") }
        let calendar = feed.calendar(publicURL: publicURL)
        let tag = "\"\(Base64.encodeForURL(try SHA256.digest(calendar).prefix(16)))\""
        let headers = [
            HTTPField("ETag", tag),
            // Only the calendar program may cache the feed, and it must revalidate the feed before each use.
            HTTPField("Cache-Control", "private, no-cache"),
        ]
        guard !request.head.headers.names(entityTag: tag) else { return Response(.notModified, headers: headers) }
        return Response(
            headers: [HTTPField("Content-Type", "text/calendar; charset=utf-8")] + headers, body: .bytes(calendar))
    }
}
