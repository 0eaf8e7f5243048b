import Server
import Wire

enum PageDescriptions {
    static let document = RouteDescription(
        "The page for browsers", answers: [.other("the page", "text/html"), .nothing(304, "it is as it was")])

    static let asset = RouteDescription(
        "What the page consists of", parameters: [.path("name", "The file.", .text())],
        answers: [
            .other("the file", "*/*"), .nothing(304, "it is as it was"),
            .refusal(404, "not_found", meaning: "there is none"),
        ])
}
