import Server

/// The routes as `curl` commands, for people at a terminal.
struct HelpPage {
    let routes: [DescribedRoute]
    let address: String

    var text: String {
        var text = "Let's Switch, at \(address)\n\nEvery route with its parameters and answers: "
        text += "curl -s \(address)/openapi.json\n"
        for route in routes {
            guard let description = route.description, let example = description.example else { continue }
            let body = description.body.map { " -d '\($0.example)'" } ?? ""
            text += "\n# \(description.summary)\ncurl -s \(command(example))\(body)\n"
        }
        return text
    }

    /// Returns an example such as `'/task/…' -X DELETE` with the server's address before the path.
    private func command(_ example: String) -> String {
        guard example.hasPrefix("'") else { return address + example }
        return "'\(address)\(example.dropFirst())"
    }
}
