import Foundation
package import TestSupport

/// A page in Prometheus' text format, read strictly.
package struct MetricsReading {
    package let samples: [String: Double]

    package init(_ endpoint: ClientEndpoint) async throws {
        let response = try await endpoint.get("/metrics")
        guard response.status == 200, response.headers["Content-Type"]?.hasPrefix("text/plain; version=0.0.4") == true
        else { throw ClientFailure.violation("/metrics answered \(response.status)") }
        samples = try Self.parse(response.text)
    }

    /// Reads the page repeatedly until it has the wanted value, because some events are counted a moment later.
    package static func wait(
        at endpoint: ClientEndpoint, within allowed: Duration = Deadline.standard,
        until condition: (MetricsReading) -> Bool
    ) async throws -> MetricsReading {
        var reading = try await MetricsReading(endpoint)
        do {
            try await eventually("metrics", within: allowed) {
                if !condition(reading) { reading = try await MetricsReading(endpoint) }
                return condition(reading)
            }
        } catch ClientFailure.timedOut {
            throw ClientFailure.timedOut(
                waitingFor: "metrics", after: allowed, received: "\(reading.samples.filter { $0.value != 0 })"
            ).withEvidence
        }
        return reading
    }

    /// Parses a page. Each family must have `HELP` and `TYPE`, and each sample must occur once. Uses Foundation,
    /// because reading a page of hundreds of lines by characters takes very long in a debug build.
    package static func parse(_ page: String) throws -> [String: Double] {
        guard page.hasSuffix("\n") else { throw ClientFailure.violation("the last line has no end") }
        var samples: [String: Double] = [:]
        var types: [String: String] = [:]
        for line in page.components(separatedBy: "\n").dropLast() where !line.hasPrefix("# HELP ") {
            if line.hasPrefix("# TYPE ") {
                let words = line.components(separatedBy: " ")
                guard words.count == 4, ["counter", "gauge", "histogram"].contains(words[3]),
                    types.updateValue(words[3], forKey: words[2]) == nil
                else { throw ClientFailure.violation("no TYPE: \(line)") }
                continue
            }
            guard let blank = line.range(of: " ", options: .backwards), let value = Double(line[blank.upperBound...]),
                value.isFinite
            else { throw ClientFailure.violation("no sample: \(line)") }
            let name = String(line[..<blank.lowerBound])
            let metric = name.range(of: "{").map { String(name[..<$0.lowerBound]) } ?? name
            let family = ["_bucket", "_sum", "_count"].compactMap { metric.removingSuffix($0) }
                .first { types[$0] == "histogram" }
            guard types[family ?? metric] != nil else { throw ClientFailure.violation("no TYPE before \(line)") }
            guard samples.updateValue(value, forKey: name) == nil else {
                throw ClientFailure.violation("twice: \(name)")
            }
        }
        return samples
    }

    /// The value of a sample by its name with labels; 0 if it isn't on the page.
    package subscript(name: String) -> Double { samples[name] ?? 0 }
}

extension String {
    fileprivate func removingSuffix(_ suffix: String) -> String? {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : nil
    }
}
