import Domain
import Server

/// Records starts and returns the history: `POST /task/{id}/started`, `GET /history`.
struct HistoryController: RouteCollection {
    let store: HistoryStore

    func boot(routes: RoutesBuilder) {
        routes.post("task", ":id", "started", as: HistoryDescriptions.started, use: started)
        routes.get("history", as: HistoryDescriptions.history, use: history)
    }

    @Sendable private func started(_ request: Request) async throws -> Response {
        let device = try RequestFields.decode(Body.self, from: request.body).deviceId
        return .json(try await store.markStarted(try request.ownTask(of: device)).json)
    }

    @Sendable private func history(_ request: Request) async throws -> Response {
        .json(try await store.history(of: try DeviceID(request.query("deviceId"))).json)
    }

    private struct Body: Decodable {
        let deviceId: String

        init(from decoder: any Decoder) throws {
            deviceId = try RequestFields(decoder).text("deviceId")
        }
    }
}
