import PurchaseLedger
import Yams

// Values of an app that cannot be meant.

extension SettingsReader {
    /// The longest bundle id, in bytes: what App Store Connect accepts.
    private static let bundleIDBytes = 155

    /// The bundle ids of an app.
    mutating func bundleIDs(_ section: inout SettingsSection, of entry: SettingsSection.Entry) -> Set<String> {
        let line = section.lines["bundle_ids"] ?? nil
        let written = texts(&section, "bundle_ids")
        let bundleIDs = Set(written)
        if bundleIDs.isEmpty {
            note(entry.line, "the app \(entry.key) has no bundle ids", "Add bundle_ids: [com.example.app]")
        }
        for bundleID in bundleIDs.sorted() {
            unique(bundleID, "the bundle id", of: entry.key, line)
            if written.count(where: { $0 == bundleID }) > 1 {
                note(line, "the bundle id \(bundleID) is in bundle_ids of \(entry.key) twice", "Keep one")
            }
            guard !Self.isBundleID(bundleID) else { continue }
            note(
                line, "bundle_ids of \(entry.key) has '\(bundleID.prefix(200))', which is not a bundle id",
                "Write it as in App Store Connect: letters, digits, hyphens and periods, at most "
                    + "\(Self.bundleIDBytes)")
        }
        return bundleIDs
    }

    /// Whether a text has the form of a bundle id (Apple, "CFBundleIdentifier"). Some old ones have underscores.
    private static func isBundleID(_ text: String) -> Bool {
        text.utf8.count <= bundleIDBytes
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The budget of evidence that did not verify; `nil` if the settings have none.
    mutating func evidenceBudget(_ section: inout SettingsSection) -> EvidenceBudget? {
        guard var section = self.section(&section, "unverified_evidence") else { return nil }
        var budget = EvidenceBudget()
        let bytes: ClosedRange<Int64> = 0...(1 << 40)
        if let most = number(&section, "bytes_per_day", in: bytes) { budget.bytesPerAppAndDay = most }
        if let most = number(&section, "bytes_per_key_and_day", in: bytes) {
            budget.bytesPerKeyAndDay = most
            if most > budget.bytesPerAppAndDay {
                note(
                    section.lines["bytes_per_key_and_day"],
                    "bytes_per_key_and_day is \(most), which is more than the \(budget.bytesPerAppAndDay) of "
                        + "bytes_per_day",
                    "Write at most as many for a key as for all keys of the app")
            }
        }
        finish(section)
        return budget
    }

    /// Notes names of products that `products` does not have. A mistyped name would apply to nothing: Apple would be
    /// told the preference for all other products.
    mutating func checkNamedProducts(_ products: SettingsSection, of app: String) {
        let known = Set(products.entries.map { ExactText($0.key) })
        for named in namedProducts where !known.contains(ExactText(named.id)) {
            note(
                named.line, "\(named.setting) of \(app) names '\(named.id.prefix(200))', which is not in products",
                "Correct the name, or add the product to products of \(app)")
        }
    }

    /// Notes a percentage of Apple's limits above 100 at Apple's own addresses.
    mutating func checkLimit(_ values: [String: ServerSettingValue]) {
        guard let limit = values[ServerSetting.serverAPILimit.name], case .file(let line) = limit.source,
            let percent = Int64(limit.text), percent > 100,
            values[ServerSetting.serverAPIProduction.name] == nil, values[ServerSetting.serverAPISandbox.name] == nil
        else { return }
        note(
            line, "server_api_limit_percent is \(percent), and Apple refuses what is above its limits",
            "Write at most 100, or the addresses of a simulator whose limits were raised")
    }
}
