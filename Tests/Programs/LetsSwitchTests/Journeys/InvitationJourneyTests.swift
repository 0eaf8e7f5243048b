import Domain
import Foundation
import JourneyTestSupport
import Notifications
import Settings
import TestSupport
import Testing

/// Invitations of a guest, and preferences for a former partner.
@Suite struct InvitationJourneyTests {
    private static func task(_ device: String, _ start: Instant, invite: TestJSON) -> TestJSON {
        ["deviceId": .string(device), "startsAt": "\(start)", "title": "History", "timeZone": "UTC", "invite": invite]
    }

    /// Registers a task that invites a guest. Returns the answer, and the path of the route that accepts its link.
    private static func invite(
        _ device: String, _ start: Instant, at endpoint: ClientEndpoint
    ) async throws -> (TestJSON, path: String) {
        let response = try await endpoint.post("/task", task(device, start, invite: true))
        #expect(response.status == 201 || response.status == 200)
        let link = try #require(try response.json()["invitation"].string)
        let token = try #require(link.split(separator: "/").last)
        return (try response.json(), "/invitations/\(token)")
    }

    @Test(
        "A guest opens the link at another daemon and becomes the partner"
    )
    func accept() async throws {
        try await Journey.run { journey in
            let daemons = [
                try await journey.daemon { $0.providers.publicURL = "https://switch.example" },
                try await journey.daemon(),
            ]
            let start = try await journey.instant(in: 3600)
            let stream = try await daemons[0].reminders(of: "ada")
            let (task, path) = try await Self.invite("ada", start, at: daemons[0])
            #expect(task["isPaired"] == false)
            #expect(task["invitation"].string?.hasPrefix("https://switch.example/#invitation/") == true)
            let relative = try await Self.invite("ada", start, at: daemons[1]).0["invitation"].string
            #expect(relative?.hasPrefix("/#invitation/") == true)
            #expect(try await stream.nextChange() == "\(start)")
            #expect(try await !daemons[0].register("bob", start, "Maths").isPaired)

            let invitation = try await daemons[1].get(path)
            #expect(invitation.status == 200)
            let text = try invitation.json()
            #expect(text["title"] == "History" && text["startsAt"].string == "\(start)" && text["timeZone"] == "UTC")
            #expect(!invitation.text.contains("\"ada"))
            let guest: TestJSON = ["deviceId": "eva", "title": "Art", "timeZone": "Europe/Prague"]
            let accepted = try await daemons[1].post(path, guest)
            #expect(accepted.status == 201)
            let eva = try accepted.json()
            #expect(eva["isPaired"] == true && eva["partnerTitle"] == "History" && eva["socketId"] == task["socketId"])
            #expect(eva["timeZone"] == "Europe/Prague" && eva["invitation"].string == nil)
            #expect(try await stream.nextChange() == "\(start)")
            #expect(try await daemons[0].post(path, guest).status == 200)
            let late: TestJSON = ["deviceId": "fay", "title": "Art"]
            let used = try await daemons[0].post(path, late)
            #expect(used.status == 409 && used.code == "invitation_used")
            #expect(try await daemons[0].get(path).code == "invitation_used")
            #expect(try await daemons[0].get("/invitations/none").code == "no_such_invitation")
            #expect(try await daemons[0].post("/invitations/none", late).status == 404)
            let wrong = try await daemons[0].post(path, ["deviceId": "fay"])
            #expect(wrong.status == 400 && wrong.code == "invalid_request")
            let odd = try await daemons[0].post("/task", Self.task("ada", start, invite: "yes"))
            #expect(odd.code == "invalid_request")
        }
    }

    @Test("If the guest doesn't come in time, the host is matched with a waiting user")
    func lapse() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let (task, path) = try await Self.invite("ada", start, at: endpoint)
            #expect(try await !endpoint.register("bob", start, "Maths").isPaired)
            let streams = try await ["ada", "bob"].asyncMap { try await endpoint.reminders(of: $0) }
            try await journey.advance(to: start, -360)
            for stream in streams { #expect(try await stream.nextChange() == "\(start)") }
            let ada = try await endpoint.register("ada", start)
            #expect(ada.isPaired && ada.partnerTitle == "Maths" && ada.id.uuidString == task["id"].string)
            let guest: TestJSON = ["deviceId": "eva", "title": "Art"]
            #expect(try await endpoint.post(path, guest).code == "invitation_used")
        }
    }

    @Test("A preference is created, listed and undone")
    func preferences() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let ada = try await endpoint.register("ada", start)
            let request: TestJSON = ["deviceId": "ada", "taskId": .string(ada.id.uuidString)]
            let alone = try await endpoint.post("/preferences", request)
            #expect(alone.status == 409 && alone.code == "no_partner")
            _ = try await endpoint.register("bob", start, "Maths")
            let made = try await endpoint.post("/preferences", request)
            #expect(made.status == 201)
            #expect(try made.json()["title"] == "Maths" && made.json()["startsAt"].string == "\(start)")
            #expect(try await endpoint.post("/preferences", request).status == 200)
            #expect(try await endpoint.get("/preferences?deviceId=ada").text == #"{"preferences":[\#(made.text)]}"#)
            #expect(try await endpoint.get("/preferences?deviceId=bob").text == #"{"preferences":[]}"#)
            let foreign: TestJSON = ["deviceId": "bob", "taskId": .string(ada.id.uuidString)]
            #expect(try await endpoint.post("/preferences", foreign).code == "no_such_task")
            #expect(
                try await endpoint.post("/preferences", ["deviceId": "bob", "taskId": "x"]).code == "invalid_request")
            let id = try #require(try made.json()["id"].string)
            for (target, status) in [
                ("\(id)?deviceId=bob", 404), ("x?deviceId=ada", 400), ("\(id)?deviceId=ada", 200),
                ("\(id)?deviceId=ada", 404),
            ] {
                let response = try await HTTPTestClient.request(at: endpoint, "DELETE", "/preferences/\(target)")
                #expect(response.status == status, "\(target)")
            }
        }
    }
}
