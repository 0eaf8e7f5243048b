import Crypto
import Domain
import JourneyTestSupport
import Server
import Testing
import Wire

@testable import Access
@testable import LetsSwitch

@Suite struct ErrorMappingTests {
    @Test("Each refused ticket is a 401 that asks for one") func identities() {
        let expected: [(IdentityRefusal, String, String)] = [
            (.ticketRequired, "ticket_required", "Bearer"),
            (.badTicket(.expired), "ticket_expired", #"Bearer error="invalid_token""#),
            (.badTicket(.signature), "bad_ticket", #"Bearer error="invalid_token""#),
            (.otherDevice, "bad_ticket", #"Bearer error="invalid_token""#),
        ]
        for (refusal, code, challenge) in expected {
            let abort = Abort(refusal)
            #expect(abort.status == .unauthorized && abort.code == code)
            #expect(abort.headers == [HTTPField("WWW-Authenticate", challenge)])
        }
        let abort = Abort(IdentityRefusal.invalid(.invalid("deviceId", "must not be blank")))
        #expect(abort.status == .badRequest && abort.headers.isEmpty)
    }
}
