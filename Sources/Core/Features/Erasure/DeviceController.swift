import Domain
package import Server
import Wire

/// Erases a device: `DELETE /device`.
package struct DeviceController: RouteCollection {
    private let eraser: DeviceEraser

    package init(eraser: DeviceEraser) {
        self.eraser = eraser
    }

    package func boot(routes: RoutesBuilder) {
        routes.delete("device", as: Self.description, use: erase)
    }

    @Sendable private func erase(_ request: Request) async throws -> Response {
        try await eraser.erase(try DeviceID(request.query("deviceId")))
        return .json(Array("{}".utf8))
    }

    private static let description = RouteDescription(
        "Erase all data of a device", parameters: [.device(.device)],
        answers: [.json("The data is erased.", .emptyObject)],
        example: "'/device?deviceId=anna-7c1f' -X DELETE")
}
