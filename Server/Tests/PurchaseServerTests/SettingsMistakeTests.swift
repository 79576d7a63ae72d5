import Foundation
import PurchaseServer
import Testing

/// Settings that have the right form and cannot be meant.
@Suite("Mistakes in the settings file")
struct SettingsMistakeTests {
    private static func problems(_ text: String) throws -> [SettingProblem] { try WrittenSettings.problems(text) }

    private static let products = """
        apps:
          game:
            bundle_ids: [com.example.game]
            products:
              coins: { kind: consumable }
              gold: { kind: auto_renewable }

        """

    @Test(
        "A product that other settings name is in products, or the line of its name is reported",
        arguments: [
            ("    refunds:\n      products:\n        coinz: { used: decline }\n", 9, "refunds.products", "coinz"),
            (
                "    offers:\n      promotional:\n        back: { products: [gold, goldd] }\n", 9,
                "offers.promotional.back.products", "goldd"
            ),
            ("    offers:\n      introductory: { products: gild }\n", 8, "offers.introductory.products", "gild"),
            (
                "    offers:\n      advanced_commerce: { products: gild }\n", 8, "offers.advanced_commerce.products",
                "gild"
            ),
            (
                "    retention:\n      - message: 9d0c1c5e-2f3a-4a52-9f1b-1f2e3d4c5b6a\n        products: [Gold]\n", 9,
                "retention.products", "Gold"
            ),
            (
                "    retention:\n      - message: 9d0c1c5e-2f3a-4a52-9f1b-1f2e3d4c5b6a\n"
                    + "        alternate_product: silver\n", 9, "retention.alternate_product", "silver"
            ),
            (
                "    offers:\n      promotional:\n        back: {}\n    retention:\n"
                    + "      - message: 9d0c1c5e-2f3a-4a52-9f1b-1f2e3d4c5b6a\n        promotional_offer: back\n"
                    + "        offer_product: silver\n", 13, "retention.offer_product", "silver"
            ),
        ])
    func product(settings: String, line: Int, setting: String, name: String) throws {
        let problems = try Self.problems(Self.products + settings)
        #expect(problems.count == 1 && problems.first?.line == line, "\(problems)")
        #expect(problems.first?.fault == "apps.game.\(setting) names '\(name)', which is not in products")
        // Without products, signed evidence states what there is, so no name is wrong.
        let lines = Self.products.split(separator: "\n").prefix(3).map { "\($0)\n" }.joined()
        _ = try WrittenSettings.read(lines + settings)
        // The order of the settings does not matter, nor does another app.
        let other = "  other:\n    bundle_ids: [com.example.other]\n    products: { silver: { kind: consumable } }\n"
        #expect(try Self.problems(Self.products + settings + other).count == 1)
        _ = try WrittenSettings.read(
            Self.products.replacing("      coins:", with: "      \(name): { kind: auto_renewable }\n      coins:")
                + settings)
    }

    @Test(
        "What Apple accepts in no bundle id is refused",
        arguments: [
            "com.example.my game", "'com.example.*'", "com.exämple.game", "com/example",
            String(repeating: "a", count: 156),
        ])
    func bundleID(text: String) throws {
        let problems = try Self.problems("apps:\n  game:\n    bundle_ids: [com.example.game, \(text)]\n")
        #expect(problems.count == 1 && problems.first?.line == 3, "\(problems)")
        #expect(problems.first?.fault.contains("which is not a bundle id") == true, "\(problems)")
    }

    @Test("The longest bundle id is accepted, and one that is in the list twice is not")
    func bundleIDs() throws {
        let longest = String(repeating: "a", count: 155)
        _ = try WrittenSettings.read("apps:\n  game:\n    bundle_ids: [\(longest), Com.Example.Game-2]\n")
        let problems = try Self.problems("apps:\n  game:\n    bundle_ids: [a.b, c.d, a.b]\n")
        #expect(problems.map(\.fault) == ["apps.game.bundle_ids has a.b twice"])
    }

    @Test("A budget for one key that is larger than that for all keys is refused")
    func budget() throws {
        func text(_ budget: String) -> String {
            "apps:\n  game:\n    bundle_ids: [a]\n    unverified_evidence: { \(budget) }\n"
        }
        for wrong in ["bytes_per_day: 100, bytes_per_key_and_day: 101", "bytes_per_key_and_day: 16777217"] {
            let problems = try Self.problems(text(wrong))
            #expect(problems.count == 1 && problems.first?.line == 4, "\(problems)")
            #expect(problems.first?.fault.contains("more than the") == true, "\(problems)")
        }
        for right in ["bytes_per_day: 100, bytes_per_key_and_day: 100", "bytes_per_day: 100"] {
            _ = try WrittenSettings.read(text(right))
        }
    }

    @Test("A percentage of Apple's limits above 100 is refused at Apple's addresses")
    func limit() throws {
        let problems = try Self.problems("app_store:\n  server_api_limit_percent: 101\n")
        #expect(problems.count == 1 && problems.first?.line == 2, "\(problems)")
        _ = try WrittenSettings.read("app_store:\n  server_api_limit_percent: 100\n")
        let store = "  server_api_production: http://127.0.0.1:9\n  server_api_sandbox: http://127.0.0.1:9/sandbox\n"
        _ = try WrittenSettings.read("app_store:\n  server_api_limit_percent: 5000\n\(store)")
    }

    @Test(
        "An address of the App Store is refused in the form of its own key",
        arguments: [
            ("server_api_production", "https://HOST,"), ("verify_receipt_sandbox", "https://HOST/verifyReceipt,"),
        ])
    func address(key: String, form: String) throws {
        let problem = try #require(try Self.problems("app_store:\n  \(key): ftp://apple.com\n").first)
        #expect(
            problem.line == 2 && problem.fault.hasPrefix("app_store.\(key) is wrong: 'ftp://apple.com' is not a URL"))
        #expect(!problem.fault.contains("verifyReceipt") && problem.remedy.contains(form), "\(problem)")
    }

    @Test("Bytes that are not UTF-8 are refused with their line; a byte order mark is not part of the text")
    func encoding() throws {
        func read(_ bytes: [UInt8]) throws -> ServerConfiguration {
            try ServerSettings(file: bytes, files: nil).configuration
        }
        let text = Array("apps:\n  game:\n    bundle_ids: [com.example.game]\n".utf8)
        #expect(try read([0xEF, 0xBB, 0xBF] + text).apps.keys.sorted() == ["game"])
        #expect(try read(text).apps.keys.sorted() == ["game"])
        #expect(try read([]).apps.isEmpty)
        for wrong: [UInt8] in [[0xFF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80]] {
            let comment = Array("# caf".utf8) + wrong + Array("\n".utf8)
            let error = #expect(throws: SettingProblems.self) { try read(text + comment + text) }
            #expect(error?.description.hasPrefix("line 4: the text is not UTF-8. Save the file as UTF-8") == true)
        }
    }
}
