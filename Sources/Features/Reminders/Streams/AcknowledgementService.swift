import Basics

/// Writes the acknowledgements of reminders that the kernel accepted before the daemon stops.
struct AcknowledgementService: Service {
    let streams: EventStreams
    let acknowledgements: Acknowledgements

    func run() async {}

    func stop(within limit: Duration) async {
        await acknowledgements.add(await streams.takeAcknowledgements())
        await acknowledgements.finish()
    }
}
