/// What one round of a workload showed of one server.
struct Sample {
    /// Units of work done: deliveries, requests, connections.
    var work = 0
    var seconds = 0.0
    /// CPU seconds of the server, and of the generator.
    var serverCPU = 0.0
    var generatorCPU = 0.0
    /// Those of the server by `/proc/<pid>/stat`, in hundredths of a second.
    var user = 0.0
    var system = 0.0
    var latency = LatencyHistogram()

    /// The server's CPU, in microseconds per unit.
    var costPerUnit: Double { work > 0 ? serverCPU * 1e6 / Double(work) : 0 }
}
