import Foundation
import PurchaseVerification
import Testing

@Suite("Dates of receipts")
struct AppStoreTimeTests {
    @Test(
        "Every date format of receipts is read",
        arguments: [
            ("2023-06-21T09:14:02Z", 1_687_338_842_000), ("2023-06-21T09:14:02.1Z", 1_687_338_842_100),
            ("2023-06-21T09:14:02.131Z", 1_687_338_842_131), ("2023-06-21T09:14:02.123456789Z", 1_687_338_842_123),
            ("2023-06-21T10:14:02+0100", 1_687_338_842_000), ("2023-06-21T10:14:02+01:00", 1_687_338_842_000),
            ("2023-06-21T03:44:02-0530", 1_687_338_842_000), ("2023-06-21T10:14:02.5+0100", 1_687_338_842_500),
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("4001-01-01T00:00:00Z", 64_092_211_200_000), ("2000-02-29T12:00:00Z", 951_825_600_000),
        ])
    func read(_ text: String, _ milliseconds: Int64) {
        #expect(AppStoreTime(text)?.millisecondsSince1970 == milliseconds)
    }

    @Test(
        "Text that is not a date is refused",
        arguments: [
            "", "2023-06-21", "2023-06-21T09:14:02", "2023-06-21 09:14:02Z", "2023-13-01T00:00:00Z",
            "2023-00-01T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2023-04-31T00:00:00Z",
            "2023-06-21T24:00:00Z", "2023-06-21T09:60:02Z", "2023-06-21T09:14:60Z", "2023-06-21T09:14:02.Z",
            "2023-06-21T09:14:02.1234567890Z", "2023-06-21T09:14:02z", "2023-06-21T09:14:02+1",
            "2023-06-21T09:14:02+010",
            "2023-06-21T09:14:02+01:0", "2023-06-21T09:14:02+2400", "2023-06-21T09:14:02ZZ", "2O23-06-21T09:14:02Z",
            "2023-06-21T09:14:02+0100Z", " 2023-06-21T09:14:02Z", "+023-06-21T09:14:02Z",
        ])
    func refused(_ text: String) {
        #expect(AppStoreTime(text) == nil)
    }

    @Test("The fast path for dates in receipts accepts and refuses the same bytes as the slow path")
    func everyByte() throws {
        for text in ["2023-06-21T09:14:02Z", "1999-12-31T23:59:59Z", "2024-02-29T00:00:00Z", "0000-01-01T00:00:00Z"] {
            for offset in text.utf8.indices.indices {
                for byte in UInt8.min...UInt8.max {
                    var bytes = Array(text.utf8)
                    bytes[text.utf8.distance(from: text.utf8.startIndex, to: offset)] = byte
                    #expect(ReceiptDateForms.short(bytes) == ReceiptDateForms.long(bytes), "\(bytes)")
                }
            }
        }
    }

    @Test("Every day of four centuries is written as it was read, in UTC")
    func roundTrip() throws {
        var day: Int64 = -25_000
        while day < 150_000 {
            let timestamp = AppStoreTime(millisecondsSince1970: day * 86_400_000 + 45_296_789)
            #expect(AppStoreTime(timestamp.description) == timestamp)
            day += 1
        }
    }

    @Test("The calendar agrees with Foundation's")
    func calendar() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: -20_000, to: 60_000, by: 37) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let text = String(format: "%04d-%02d-%02dT00:00:00Z", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0)
            #expect(AppStoreTime(date).description == text)
        }
    }

    @Test("Dates out of range do not trap")
    func extremes() {
        #expect(AppStoreTime(Date.distantFuture).description == "4001-01-01T00:00:00Z")
        #expect(AppStoreTime(Date(timeIntervalSince1970: .infinity)).millisecondsSince1970 == .max)
        #expect(AppStoreTime(Date(timeIntervalSince1970: -.infinity)).millisecondsSince1970 == .min)
        #expect(!AppStoreTime(millisecondsSince1970: .min).description.isEmpty)
        #expect(!AppStoreTime(millisecondsSince1970: .max).description.isEmpty)
    }
}
