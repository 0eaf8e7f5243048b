import Server
import Wire

enum PageDescriptions {
    static let document = RouteDescription(
        "Get the page for browsers",
        answers: [.other("The page.", "text/html"), .nothing(304, "The page hasn't changed.")])

    static let asset = RouteDescription(
        "Get a file of the page", parameters: [.path("name", "The file's name.", .text())],
        answers: [
            .other("The file.", "*/*"), .nothing(304, "The file hasn't changed."),
            .refusal(404, "not_found", meaning: "There is no such file."),
        ])
}
