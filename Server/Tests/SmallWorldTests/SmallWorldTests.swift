import Foundation
import SmallWorlds
import Testing
import WrittenRules

/// Every history of a few events, by the rules of the ledger and by docs/ledger.md.
///
/// `dev/torture.sh worlds` compares the long ones: `ASSAY_WORLD_EVENTS` is the number of events,
/// `ASSAY_WORLD_DUPLICATES` the number up to which each is also repeated, and `ASSAY_WORLD_MINUTES` when to stop.
@Suite("33.3 Small worlds")
struct SmallWorldTests {
    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test("33.3 There are 40 events, and as many histories as Burnside's lemma says", arguments: [1, 2, 3, 4, 5, 6])
    func numbers(length: Int) {
        #expect(WorldEvent.all.count == 40 && Set(WorldEvent.all).count == 40)
        let histories = [1: 16, 2: 522, 3: 18_664, 4: 698_568, 5: 26_888_416, 6: 1_052_344_992]
        #expect(SmallWorlds.histories(of: length) == histories[length])
    }

    @Test("33.3 The ledger and its documentation decide every history of a few events alike", arguments: [false, true])
    func worlds(claimsTransfer: Bool) {
        let length = Self.setting("ASSAY_WORLD_EVENTS") ?? 3
        let duplicates = Self.setting("ASSAY_WORLD_DUPLICATES") ?? min(length, 3)
        let minutes = Self.setting("ASSAY_WORLD_MINUTES")
        let begin = ContinuousClock.now
        let report = SmallWorlds.compare(
            upTo: length, duplicatesUpTo: duplicates, claimsTransfer: claimsTransfer,
            deadline: minutes.map { begin + .seconds(60 * $0) })
        #expect(report.difference == nil, "\(report.difference ?? "")")
        print(
            "small worlds (transfer \(claimsTransfer)): histories \(report.histories), with a repeated event",
            "\(report.duplicates), worlds \(report.worlds), in \(ContinuousClock.now - begin)")
        guard minutes == nil else { return }
        for events in 1...length {
            let histories = SmallWorlds.histories(of: events)
            #expect(report.histories[events - 1] == histories)
            let repeated = events <= duplicates ? histories * events * (events + 1) / 2 : 0
            #expect(report.duplicates[events - 1] == repeated)
        }
    }

    @Test("33.3 A planted wrong rule differs in a history of a few events", arguments: PlantedFault.allCases)
    func planted(fault: PlantedFault) {
        let report = SmallWorlds.compare(upTo: 3, duplicatesUpTo: 0, claimsTransfer: false, fault: fault)
        #expect(report.difference != nil)
        print("\(fault): \(report.difference ?? "")")
    }
}
