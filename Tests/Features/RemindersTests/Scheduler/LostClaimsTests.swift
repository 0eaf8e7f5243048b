import Basics
import Testing

@testable import Reminders

@Suite struct LostClaimsTests {
    private let start = MonotonicTime.now()

    @Test("Without lost answers, no claim is searched for")
    func none() {
        var claims = LostClaims()
        let recorded = [claims.record(3), claims.record(3), claims.record(4)]
        #expect(recorded == [true, false, true])
        #expect(claims.lookAt == nil && claims.through == 4 && claims.recorded.isEmpty)
    }

    @Test(
        "A lost claim is searched for while it may be running"
    )
    func lost() {
        var claims = LostClaims()
        _ = claims.record(3)
        claims.answerLost(at: start)
        #expect(claims.lookAt == start)
        claims.looked(at: start)
        #expect(claims.lookAt == start + LostClaims.interval)
        // Claim 6 was answered first. Then the lost claim is found, which has the lower number 5.
        let recorded = [claims.record(6), claims.record(5), claims.record(6)]
        #expect(recorded == [true, true, false])
        #expect(claims.through == 3 && claims.recorded == [5, 6])
        claims.looked(at: start + LostClaims.patience)
        #expect(claims.lookAt == nil && claims.through == 6 && claims.recorded.isEmpty)
    }
}
