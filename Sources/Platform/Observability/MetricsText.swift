/// Builds a page in Prometheus' text format, version 0.0.4.
///
/// https://prometheus.io/docs/instrumenting/exposition_formats/
package struct MetricsText: Sendable {
    /// The `Content-Type` of the page.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func counter(_ name: String, _ help: String, _ value: Int) {
        counter(name, help, [MetricSample([:], value)])
    }

    /// Appends a family with one line for each sample. Appends nothing if there are no samples.
    package mutating func counter(_ name: String, _ help: String, _ samples: [MetricSample<Int>]) {
        family(name, "counter", help, samples.map { MetricSample($0.labels, String($0.value)) })
    }

    /// Appends a counter of seconds.
    package mutating func counter(_ name: String, _ help: String, seconds: Double) {
        family(name, "counter", help, [MetricSample([:], Self.number(seconds))])
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: Double) {
        gauge(name, help, [MetricSample([:], value)])
    }

    package mutating func gauge(_ name: String, _ help: String, _ samples: [MetricSample<Double>]) {
        family(name, "gauge", help, samples.map { MetricSample($0.labels, Self.number($0.value)) })
    }

    package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        self.histogram(name, help, [MetricSample([:], histogram)])
    }

    package mutating func histogram(_ name: String, _ help: String, _ samples: [MetricSample<Histogram>]) {
        guard !samples.isEmpty else { return }
        header(name, "histogram", help)
        for sample in samples {
            let (labels, histogram) = (sample.labels, sample.value)
            var cumulative = 0
            for (index, count) in histogram.counts.enumerated() {
                cumulative += count
                let bound = index < histogram.bounds.count ? Self.number(histogram.bounds[index]) : "+Inf"
                line(name + "_bucket", labels, le: bound, String(cumulative))
            }
            line(name + "_sum", labels, Self.number(histogram.sum))
            line(name + "_count", labels, String(cumulative))
        }
    }

    private mutating func family(
        _ name: String, _ type: String, _ help: String, _ samples: [MetricSample<String>]
    ) {
        guard !samples.isEmpty else { return }
        header(name, type, help)
        for sample in samples { line(name, sample.labels, sample.value) }
    }

    private mutating func header(_ name: String, _ type: String, _ help: String) {
        bytes.append(contentsOf: "# HELP \(name) ".utf8)
        escape(help, quotes: false)
        bytes.append(contentsOf: "\n# TYPE \(name) \(type)\n".utf8)
    }

    private mutating func line(
        _ name: String, _ labels: KeyValuePairs<String, String>, le bound: String? = nil, _ value: String
    ) {
        bytes.append(contentsOf: name.utf8)
        if !labels.isEmpty || bound != nil {
            var separator = UInt8(ascii: "{")
            func append(_ name: String, _ value: String, to text: inout MetricsText) {
                text.bytes.append(separator)
                separator = UInt8(ascii: ",")
                text.bytes.append(contentsOf: name.utf8)
                text.bytes.append(contentsOf: "=\"".utf8)
                text.escape(value, quotes: true)
                text.bytes.append(UInt8(ascii: "\""))
            }
            for (name, value) in labels { append(name, value, to: &self) }
            if let bound { append("le", bound, to: &self) }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: value.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Escapes backslashes and line feeds. Quotation marks are escaped only in labels.
    private mutating func escape(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\"") where quotes: bytes.append(contentsOf: #"\""#.utf8)
            default: bytes.append(byte)
            }
        }
    }

    /// Formats a number so that Go's ParseFloat can read it. Whole numbers have no fraction.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        if let whole = Int(exactly: value) { return String(whole) }
        return String(value)
    }
}

/// One line of a family, such as `MetricSample(["state": "idle"], 3)`. A label has only a few values and never contains
/// an id.
package struct MetricSample<Value: Sendable>: Sendable {
    package let labels: KeyValuePairs<String, String>
    package let value: Value

    package init(_ labels: KeyValuePairs<String, String>, _ value: Value) {
        self.labels = labels
        self.value = value
    }
}
