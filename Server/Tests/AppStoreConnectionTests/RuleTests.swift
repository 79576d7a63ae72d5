import AppStoreConnection
import Foundation
import PurchaseAPI
import Testing

@Suite("The rules of the connection")
struct RuleTests {
    @Test("Each status is judged, at both addresses, before and after the switch")
    func statuses() {
        func judge(
            _ status: Int, _ flag: Bool? = nil, _ asked: ValidationEnvironment = .production, switched: Bool = false
        )
            -> ReplyJudgement
        {
            ReplyJudgement(status: .init(rawValue: status), retryFlag: flag, asked: asked, isSwitched: switched)
        }
        for environment in ValidationEnvironment.allCases {
            for isSwitched in [false, true] {
                for flag in [true, false, nil] as [Bool?] {
                    for status in [0, 21003, 21004, 21006, 21010] {
                        #expect(judge(status, flag, environment, switched: isSwitched) == .conclusive)
                    }
                    for status in [21005, 21009] {
                        #expect(judge(status, flag, environment, switched: isSwitched) == .undetermined(.passing))
                    }
                    #expect(judge(21002, flag, environment, switched: isSwitched) == .undetermined(.perhapsTheReceipt))
                    for status in [21000, 21001, 1, -1, 21011, 21099, 21200, Int.max] {
                        #expect(judge(status, flag, environment, switched: isSwitched) == .undetermined(.lasting))
                    }
                    for status in [21100, 21104, 21199] {
                        let expected = ReplyJudgement.undetermined(flag == false ? .lasting : .passing)
                        #expect(judge(status, flag, environment, switched: isSwitched) == expected)
                    }
                }
            }
        }
        #expect(judge(21007) == .otherEnvironment)
        #expect(judge(21008, nil, .sandbox) == .otherEnvironment)
        #expect(judge(21008) == .undetermined(.lasting))
        #expect(judge(21007, nil, .sandbox, switched: true) == .conclusive)
        #expect(judge(21008, nil, .sandbox, switched: true) == .conclusive)
    }

    @Test("Three more attempts after 0.5, 1 and 2 s ± 50 %; one after 21002; none where a retry cannot help")
    func pauses() {
        for (random, expected) in [(-1.0, [250, 500, 1000]), (0, [500, 1000, 2000]), (1, [750, 1500, 3000])] {
            for (attempt, milliseconds) in expected.enumerated() {
                #expect(
                    RetryPauses.pause(after: attempt + 1, .passing, random: random) == .milliseconds(milliseconds))
            }
        }
        #expect(RetryPauses.pause(after: 4, .passing, random: 0) == nil)
        #expect(RetryPauses.pause(after: 1, .perhapsTheReceipt, random: 0) != nil)
        #expect(RetryPauses.pause(after: 2, .perhapsTheReceipt, random: 0) == nil)
        #expect(RetryPauses.pause(after: 1, .lasting, random: 0) == nil)
        #expect(RetryPauses.pause(after: 0, .passing, random: 0) == nil)
    }

    @Test("The circuit opens after five undetermined attempts in 30 s, and not if one of them is older")
    func opens() {
        var breaker = CircuitBreaker()
        for second in [0, 10, 20, 29] {
            #expect(breaker.permit(at: .seconds(second)) == .call)
            #expect(breaker.report(.call, isAnswered: false, at: .seconds(second), random: 0) == nil)
        }
        // The first is 30 s old.
        #expect(breaker.report(.call, isAnswered: false, at: .seconds(30), random: 0) == nil)
        // Answers in between do not matter.
        #expect(breaker.report(.call, isAnswered: true, at: .seconds(31), random: 0) == nil)
        #expect(breaker.circuit(at: .seconds(31)) == .closed)
        #expect(breaker.report(.call, isAnswered: false, at: .seconds(32), random: 0) == .opened)
        #expect(breaker.circuit(at: .seconds(33)) == .open(nextProbeAfter: .seconds(14)))
    }

    @Test("An open circuit lets one probe through each 15 s ± 20 %", arguments: [(-1.0, 12), (0, 15), (1, 18)])
    func probes(_ random: Double, _ seconds: Int) {
        var breaker = CircuitBreaker()
        for _ in 0..<5 { _ = breaker.report(.call, isAnswered: false, at: .zero, random: random) }
        let due = Duration.seconds(seconds)
        #expect(breaker.permit(at: due - .milliseconds(1)) == .refused(retryAfter: .milliseconds(1)))
        #expect(breaker.permit(at: due) == .probe)
        // Until the probe is answered, no other call may be made.
        #expect(breaker.permit(at: due + .seconds(100)) == .refused(retryAfter: .seconds(15)))
        // Late failures of earlier calls change nothing.
        #expect(breaker.report(.call, isAnswered: false, at: due, random: random) == nil)
        #expect(breaker.report(.probe, isAnswered: false, at: due, random: random) == nil)
        #expect(breaker.permit(at: due + due - .milliseconds(1)) == .refused(retryAfter: .milliseconds(1)))
        #expect(breaker.permit(at: due + due) == .probe)
        #expect(breaker.report(.probe, isAnswered: true, at: due + due, random: random) == .closed)
        #expect(breaker.permit(at: due + due) == .call)
    }

    @Test("A probe that was given up is made again by the next call; a late answer closes the circuit")
    func givenUp() {
        var breaker = CircuitBreaker()
        for _ in 0..<5 { _ = breaker.report(.call, isAnswered: false, at: .zero, random: 0) }
        #expect(breaker.permit(at: .seconds(15)) == .probe)
        breaker.giveBack(.call, at: .seconds(16))
        #expect(breaker.permit(at: .seconds(16)) == .refused(retryAfter: .seconds(15)))
        breaker.giveBack(.probe, at: .seconds(16))
        #expect(breaker.permit(at: .seconds(16)) == .probe)
        #expect(breaker.report(.call, isAnswered: true, at: .seconds(17), random: 0) == .closed)
        #expect(breaker.report(.probe, isAnswered: true, at: .seconds(18), random: 0) == nil)
    }

    @Test("At most 16 calls of an app and 64 in all are in flight; others wait in turn; too many are refused")
    func callLimit() async {
        let limit = CallLimit()
        for app in ["a", "b", "c"] {
            for _ in 0..<CallLimit.callsPerApp { #expect(await limit.enter(app)) }
        }
        #expect(await limit.counts.calls == 48)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<CallLimit.waitingPerApp { group.addTask { await limit.enter("a") } }
            while await limit.counts.waiting < CallLimit.waitingPerApp { await Task.yield() }
            // The queue of this app is full; another app is not affected.
            #expect(await !limit.enter("a"))
            for _ in 0..<CallLimit.callsPerApp { #expect(await limit.enter("d")) }
            #expect(await limit.counts.calls == 64)
            for _ in 0..<CallLimit.callsPerApp + CallLimit.waitingPerApp { await limit.leave("a") }
            for await isAllowed in group { #expect(isAllowed) }
        }
        for app in ["b", "c", "d"] {
            for _ in 0..<CallLimit.callsPerApp { await limit.leave(app) }
        }
        #expect(await limit.counts.calls == 0)
        #expect(await limit.counts.waiting == 0)
    }

    @Test("Plain HTTP is for loopback addresses only; a secret is never printed")
    func settings() throws {
        for text in [
            "http://127.0.0.1:1/verifyReceipt", "http://localhost/", "http://[::1]:8/x", "https://apple.example",
        ] {
            _ = try AppStoreConnectionSettings.url(text)
        }
        for text in [
            "http://apple.example/", "http://10.0.0.1/", "http://127.0.0.1.evil.example/", "ftp://localhost/", "", "x",
            "https://", "https://user:password@apple.example/", "https://a/#b",
        ] {
            #expect(throws: AppStoreConnectionSettingsError.self) { try AppStoreConnectionSettings.url(text) }
        }
        #expect(throws: AppStoreConnectionSettingsError.self) {
            let settings = try AppStoreConnectionSettings(
                production: "https://a/", sandbox: "https://b/", trustFile: "/nonexistent/file")
            _ = try VerifyReceiptClient(settings)
        }
        let apple = AppStoreConnectionSettings.apple
        #expect(apple.verifyReceiptProduction.absoluteString == "https://buy.itunes.apple.com/verifyReceipt")
        #expect(apple.verifyReceiptSandbox.absoluteString == "https://sandbox.itunes.apple.com/verifyReceipt")
        #expect(SharedSecret("") == nil)
        let secret = try #require(SharedSecret("hidden"))
        let request = ReceiptValidationRequest([1], .present, secret: "hidden")
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!"\(secret) \(String(reflecting: secret)) \(request) \(dumped)".contains("hidden"))
    }
}
