import Domain
import Foundation
import TestSupport

extension RematchDevice {
    /// Ends the device's series, or begins one at the slot's time of day. Its tasks in these slots are doubtful from
    /// then on.
    func changeSeries(_ slot: Int, _ endpoint: ClientEndpoint) async {
        guard let list = await ask("GET", "/series?deviceId=\(name)", nil, endpoint, concerning: []),
            list.status == 200,
            let series = try? list.json()["series"].array
        else { return }
        if let known = series.first {
            guard let id = uuid(known["id"]), let time = known["startTime"].string else { return await object(list) }
            // The series may have tasks in all slots of this run with its time of day.
            let slots = await (0...(record.minute + Self.slotsAhead)).map(clock.slot)
            for slot in slots where Self.time(slot) == time { await note { $0.markUncertain(key(slot)) } }
            let target = "/series/\(id.uuidString)?deviceId=\(name)&leave=true"
            guard let response = await ask("DELETE", target, nil, endpoint, concerning: []) else { return }
            if response.status == 200 { await note("series ended") { _ in } } else { await object(response) }
        } else {
            await note { $0.markUncertain(key(slot)) }
            let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map { TestJSON.string($0) }
            let request: TestJSON = [
                "deviceId": .string(name), "title": .string(name), "startTime": .string(Self.time(slot)),
                "timeZone": "UTC", "days": .array(days),
            ]
            await note { $0.erasures.beginsSeries(name) }
            guard let response = await ask("POST", "/series", request, endpoint, concerning: []) else { return }
            await note { $0.erasures.hasBegunSeries(name) }
            if [200, 201, 409].contains(response.status) {
                await note("series begun") { _ in }
            } else {
                await object(response)
            }
        }
    }

    static func time(_ slot: Int) -> String {
        String("\(Instant(seconds: slot))".dropFirst(11).prefix(5))
    }
}
