import Domain
import Notifications
import Server
import Wire

/// Serves `GET /operations`, a page for operators with the daemon's history.
struct HistoryPageController: RouteCollection {
    let sampler: OperationsSampler
    let providers: [ProviderName]
    /// The machine's name and the build.
    let host: String
    let build: String
    let readiness: @Sendable () async -> Readiness
    /// Returns the bus in use and whether it is connected.
    let bus: @Sendable () -> (name: String, isConnected: Bool)
    private let page = OperationsPage()

    init(
        sampler: OperationsSampler, providers: [ProviderName], host: String, build: String,
        readiness: @escaping @Sendable () async -> Readiness,
        bus: @escaping @Sendable () -> (name: String, isConnected: Bool)
    ) {
        self.sampler = sampler
        self.providers = providers
        self.host = host
        self.build = build
        self.readiness = readiness
        self.bus = bus
    }

    func boot(routes: RoutesBuilder) {
        routes.group(for: .operators) { routes in
            routes.get("operations", as: HistoryDescriptions.page) { try await page.response(to: $0.head) }
            routes.get("operations", "icon.svg", as: HistoryDescriptions.icon) { try await page.icon(to: $0.head) }
            routes.get("operations", "samples", as: HistoryDescriptions.samples, use: samples)
        }
    }

    @Sendable private func samples(_ request: Request) async throws -> Response {
        let scope = try Self.choice(OperationsSampler.Scope.self, "of", .own, request)
        let span = try Self.choice(SampleHistory.Span.self, "span", .minute, request)
        let (daemons, series) = await sampler.points(scope, of: span)
        let (readiness, bus) = (await readiness(), bus())
        var json = JSONText()
        json.object { object in
            object.member("host", host)
            object.member("build", build)
            object.member("daemons", daemons)
            object.member("ready", readiness.isReady)
            object.member("reason", readiness.reason)
            object.member("bus", bus.name)
            object.member("busConnected", bus.isConnected)
            object.member("step", span.step)
            object.name("providers")
            object.array { array in for provider in providers { array.string(provider.rawValue) } }
            object.name("series")
            object.object { object in
                for (series, points) in series where points.contains(where: { $0 != nil }) {
                    object.name(series.name)
                    object.array { array in
                        for point in points {
                            if let point { array.number((point * 1_000).rounded() / 1_000) } else { array.null() }
                        }
                    }
                }
            }
        }
        return .json(json.bytes, headers: [HTTPField("Cache-Control", "no-store")])
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ type: Choice.Type, _ name: String, _ usual: Choice, _ request: Request
    ) throws -> Choice {
        guard let text = request.query(name) else { return usual }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw Abort(.badRequest, code: "invalid_request", reason: "\(name) must be one of \(names).")
        }
        return choice
    }
}

enum HistoryDescriptions {
    static let page = RouteDescription(
        "Get the operators' page", answers: [.other("The page.", "text/html")], example: "/operations")
    static let icon = RouteDescription(
        "Get the operators' page's icon", answers: [.other("The icon.", "image/svg+xml")],
        example: "/operations/icon.svg")

    static let samples = RouteDescription(
        "Get the operators' page's data",
        parameters: [
            .optional(
                "of", "This daemon (own, the default), or all daemons on the database (all).",
                .enum(OperationsSampler.Scope.allCases.map(\.rawValue))),
            .optional(
                "span", "The period: minute (the default), hour or day.",
                .enum(SampleHistory.Span.allCases.map(\.rawValue))),
        ],
        answers: [
            .json(
                "Points for each second, minute or hour, the oldest first. A point without data is null.",
                .object([
                    .member("host", .text()), .member("build", .text()), .member("daemons", .count),
                    .member("ready", .boolean), .optional("reason", .text()), .member("bus", .text()),
                    .member("busConnected", .boolean), .member("step", .count),
                    .member("providers", .array(.text())), .member("series", .map(.array(.anything))),
                ])),
            .refusal(400, "invalid_request", meaning: "A parameter has an unknown value."),
        ], example: "/operations/samples?of=own&span=minute")
}
