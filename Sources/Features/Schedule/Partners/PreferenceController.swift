import Domain
import FoundationEssentials
import Observability
import Server
import Wire

/// Manages the partners that a device would like to have again: `/preferences`. The partners aren't notified.
struct PreferenceController: RouteCollection {
    let store: PreferenceStore
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("preferences", as: PreferenceDescriptions.prefer, registers: true, use: prefer)
        routes.get("preferences", as: PreferenceDescriptions.preferences, use: list)
        routes.delete("preferences", ":id", as: PreferenceDescriptions.remove, use: remove)
    }

    @Sendable private func prefer(_ request: Request) async throws -> Response {
        let body = try RequestFields.decode(Body.self, from: request.body)
        guard let id = UUID(text: body.taskId) else { throw RequestError.invalid("taskId", "must be a UUID") }
        let task = OwnTask(id: id, device: try DeviceID(body.deviceId))
        let (preference, isNew) = try await store.prefer(task)
        if isNew { log.info("preference created", ["device": .device(task.device)]) }
        return .json(preference.json, status: isNew ? .created : .ok)
    }

    @Sendable private func list(_ request: Request) async throws -> Response {
        let last = try request.query("before").map { text throws(RequestError) in try id(text, "before") }
        let (preferences, hasMore) = try await store.preferences(
            of: try DeviceID(request.query("deviceId")), before: last)
        var json = JSONText()
        json.object { object in
            object.name("preferences")
            object.array { array in
                for preference in preferences { preference.write(to: &array) }
            }
            if hasMore { object.member("next", preferences.last?.id.text) }
        }
        return .json(json.bytes)
    }

    @Sendable private func remove(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        try await store.remove(id(request.pathID, "id"), of: device)
        return .json(Array("{}".utf8))
    }

    private func id(_ text: String, _ member: String) throws(RequestError) -> UUID {
        guard let id = UUID(text: text) else { throw .invalid(member, "must be a UUID") }
        return id
    }

    private struct Body: Decodable {
        let deviceId: String
        let taskId: String

        init(from decoder: any Decoder) throws {
            let members = try RequestFields(decoder)
            deviceId = try members.text("deviceId")
            taskId = try members.text("taskId")
        }
    }
}
