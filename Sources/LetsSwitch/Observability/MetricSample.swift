/// One line of a family: `MetricSample(["state": "idle"], 3)`. Labels have few values and never bear an id.
package struct MetricSample<Value: Sendable>: Sendable {
    package let labels: KeyValuePairs<String, String>
    package let value: Value

    package init(_ labels: KeyValuePairs<String, String>, _ value: Value) {
        self.labels = labels
        self.value = value
    }
}
