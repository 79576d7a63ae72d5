import Foundation
import PurchaseAPI
import Testing

@Suite("Apple's dates")
struct AppleDateTests {
    @Test("Both zones agree with Foundation's, hour by hour around both changes of the clock, from 2008 to 2040")
    func zones() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        let greenwich = try #require(TimeZone(identifier: "UTC"))
        let losAngeles = try #require(TimeZone(identifier: "America/Los_Angeles"))
        var seconds: Int64 = 1_199_145_600
        var checked = 0
        while seconds < 2_208_988_800 {
            let date = AppleDate(millisecondsSince1970: seconds * 1000)
            formatter.timeZone = greenwich
            let moment = Date(timeIntervalSince1970: Double(seconds))
            #expect(date.greenwich == formatter.string(from: moment) + " Etc/GMT")
            formatter.timeZone = losAngeles
            #expect(date.losAngeles == formatter.string(from: moment) + " America/Los_Angeles")
            checked += 1
            // A few hours apart, and never the same hour of the day.
            seconds += 3600 * 95 + 1799
        }
        #expect(checked > 2900)
    }

    @Test(
        "The clock changes at two in the morning",
        arguments: [
            (1_678_615_199_000, "2023-03-12 01:59:59 America/Los_Angeles"),
            (1_678_615_200_000, "2023-03-12 03:00:00 America/Los_Angeles"),
            (1_699_174_799_000, "2023-11-05 01:59:59 America/Los_Angeles"),
            (1_699_174_800_000, "2023-11-05 01:00:00 America/Los_Angeles"),
        ])
    func changes(_ milliseconds: Int64, _ text: String) {
        #expect(AppleDate(millisecondsSince1970: milliseconds).losAngeles == text)
    }

    @Test("Fractions of a second are cut off, not rounded, also before 1970")
    func wholeSeconds() {
        #expect(AppleDate(millisecondsSince1970: 1999).inWholeSeconds.millisecondsSince1970 == 1000)
        #expect(AppleDate(millisecondsSince1970: -1).inWholeSeconds.millisecondsSince1970 == -1000)
    }

    @Test("A date of Xcode, two thousand years ahead, is written")
    func distant() {
        #expect(AppleDate(millisecondsSince1970: 64_092_211_200_000).greenwich == "4001-01-01 00:00:00 Etc/GMT")
    }
}
