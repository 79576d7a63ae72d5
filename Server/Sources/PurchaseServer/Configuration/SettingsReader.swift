import Foundation
import PurchaseLedger
import PurchaseVerification
import Yams

/// Reads values and collects all errors in them.
struct SettingsReader {
    private(set) var problems: [SettingsFile.Problem] = []
    var surroundings: SettingsFile.Surroundings
    /// The products that settings of the app other than `products` name.
    var namedProducts: [(id: String, setting: String, line: Int?)] = []
    /// The app of each value that only one app may have.
    private var owners: [String: String] = [:]

    init(_ surroundings: SettingsFile.Surroundings) {
        self.surroundings = surroundings
    }

    mutating func note(_ line: Int??, _ fault: String, _ remedy: String) {
        problems.append(SettingsFile.Problem(line: line ?? nil, fault: fault, remedy: remedy))
    }

    /// A node as a mapping; an empty one if it is not a mapping.
    mutating func section(_ node: Node, _ name: String) -> SettingsSection {
        guard let mapping = node.mapping else {
            if node.null == nil {
                note(node.mark?.line, "\(name) is not a mapping", "Write key: value pairs below it, indented")
            }
            return SettingsSection(name: name, entries: [], lines: [:])
        }
        var entries: [SettingsSection.Entry] = []
        for (key, value) in mapping {
            guard let text = key.scalar?.string else {
                note(key.mark?.line, "a key of \(name) is not a word", "Write a plain word before the colon")
                continue
            }
            entries.append(SettingsSection.Entry(key: text, value: value, line: key.mark?.line))
        }
        return SettingsSection(
            name: name, entries: entries,
            lines: Dictionary(entries.map { ($0.key, $0.line) }, uniquingKeysWith: { first, _ in first }))
    }

    mutating func section(_ parent: inout SettingsSection, _ key: String) -> SettingsSection? {
        guard let entry = parent.take(key) else { return nil }
        return section(entry.value, key)
    }

    /// Notes the settings that were not read: their names are unknown.
    mutating func finish(_ section: SettingsSection) {
        for entry in section.entries {
            note(
                entry.line, "\(section.name) has no setting '\(entry.key)'",
                "Known are \(Set(section.known).sorted().joined(separator: ", "))")
        }
    }

    mutating func text(_ section: inout SettingsSection, _ key: String) -> String? {
        guard let entry = section.take(key) else { return nil }
        guard entry.value.null == nil, let text = entry.value.scalar?.string, !text.isEmpty else {
            note(entry.line, "\(key) is empty or not text", "Write \(key): followed by a text")
            return nil
        }
        return text
    }

    /// A list of texts; a single text is a list of one.
    mutating func texts(_ section: inout SettingsSection, _ key: String) -> [String] {
        guard let entry = section.take(key) else { return [] }
        if entry.value.null == nil, let text = entry.value.scalar?.string, !text.isEmpty { return [text] }
        var texts: [String] = []
        for node in entry.value.sequence.map(Array.init) ?? [] {
            guard node.null == nil, let text = node.scalar?.string, !text.isEmpty else {
                note(node.mark?.line, "an entry of \(key) is empty or not text", "Write texts only; quote numbers")
                continue
            }
            texts.append(text)
        }
        if texts.isEmpty, problems.last?.line != entry.value.mark?.line {
            note(entry.line, "\(key) is empty or not a list", "Write \(key): [one, another]")
        }
        return texts
    }

    mutating func number(
        _ section: inout SettingsSection, _ key: String, in bounds: ClosedRange<Int64>
    ) -> Int64? {
        guard let entry = section.take(key) else { return nil }
        guard let number = entry.value.scalar.flatMap({ Int64($0.string) }), bounds.contains(number) else {
            note(
                entry.line, "\(key) is not a whole number from \(bounds.lowerBound) to \(bounds.upperBound)",
                "Write \(key): followed by such a number")
            return nil
        }
        return number
    }

    /// One of several words, written with `_` or with `-`.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ section: inout SettingsSection, _ key: String, _: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        guard let entry = section.take(key) else { return nil }
        let text = entry.value.scalar?.string
        guard let choice = text.flatMap({ Choice(rawValue: $0.replacing("-", with: "_")) }) else {
            note(
                entry.line, "\(key) is '\(text ?? "no word")'",
                "Choose one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
            return nil
        }
        return choice
    }

    /// `true` or `false`.
    mutating func flag(_ section: inout SettingsSection, _ key: String) -> Bool? {
        guard let entry = section.take(key) else { return nil }
        switch entry.value.scalar?.string {
        case "true": return true
        case "false": return false
        case let text:
            note(entry.line, "\(key) is '\(text ?? "no word")'", "Write true or false")
            return nil
        }
    }

    /// The duration of a non-renewing subscription.
    mutating func duration(_ section: inout SettingsSection, _ key: String) -> PassDuration? {
        guard let entry = section.take(key) else { return nil }
        let text = entry.value.scalar?.string ?? ""
        guard let duration = PassDuration(text) else {
            note(
                entry.line, "\(key) is '\(text)'",
                "Write a number and a unit: 90s, 15m (minutes), 24h, 30d, 1mo (calendar month) or 1y")
            return nil
        }
        return duration
    }

    /// A length of time that is always the same, in milliseconds.
    mutating func lifetime(_ section: inout SettingsSection, _ key: String) -> Int64? {
        guard let entry = section.take(key) else { return nil }
        let text = entry.value.scalar?.string ?? ""
        guard case .fixed(let milliseconds) = PassDuration(text) else {
            note(entry.line, "\(key) is '\(text)'", "Write a number and a unit: 90s, 15m, 24h or 30d")
            return nil
        }
        return milliseconds
    }

    /// A length of time of at most a day, in milliseconds, or 0 for none.
    mutating func tolerance(_ section: inout SettingsSection, _ key: String) -> Int64? {
        guard let entry = section.take(key) else { return nil }
        let text = entry.value.scalar?.string ?? ""
        if text == "0" { return 0 }
        guard case .fixed(let milliseconds) = PassDuration(text), milliseconds <= 86_400_000 else {
            note(entry.line, "\(key) is '\(text)'", "Write 0, or a number and a unit of at most a day: 90s, 15m or 1h")
            return nil
        }
        return milliseconds
    }

    /// Environments, in any case. A name that Apple does not use is useless if only Apple is trusted. It is most likely
    /// misspelled, and would refuse every purchase.
    mutating func environments(_ section: inout SettingsSection, _ key: String) -> Set<AppStoreEnvironment> {
        let environments = texts(&section, key).map(AppStoreEnvironment.init(anyCase:))
        for case .other(let name) in environments where !surroundings.isTrustExtended {
            note(
                section.lines[key], "\(key) names '\(name)', which is not an environment of Apple",
                "Write Production or Sandbox, or name the certificate of its signer in server.trust")
        }
        return Set(environments)
    }

    /// Notes a value that two apps share: the same purchase would be granted in both.
    mutating func unique(_ value: String, _ what: String, of app: String, _ line: Int??) {
        if let owner = owners["\(what) \(value)"] {
            note(
                line, "\(what) \(value) is in the apps \(owner) and \(app)",
                "Keep it in one app; a purchase would be granted in both")
        }
        owners["\(what) \(value)"] = app
    }

    /// Notes an error in a file that should hold a secret. Its path is not repeated: it may be the secret itself, in
    /// the wrong place.
    mutating func checkSecretFile(_ path: String, _ line: Int??) {
        guard let files = surroundings.files else { return }
        do throws(SettingFault) {
            _ = try files.secret(path)
        } catch {
            note(line, "shared_secret_file \(error.fault)", error.remedy)
        }
    }

    /// A value with its path, which begins in the folder of the settings file.
    func resolved(_ text: String, _ form: ServerSetting.PathForm) -> String {
        guard let folder = surroundings.folder else { return text }
        func joined(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }
        switch form {
        case .none: return text
        case .whole: return joined(text)
        case .checkpoints: return text == "-" || CheckpointPlace.isURL(text) ? text : joined(text)
        case .database:
            let scheme = "sqlite:"
            guard text.hasPrefix(scheme), text != scheme, text != "sqlite::memory:" else { return text }
            return scheme + joined(String(text.dropFirst(scheme.count)))
        }
    }

    /// The error of the YAML parser, with its line.
    static func problem(_ error: any Error) -> SettingsFile.Problem {
        let remedy = "Correct the YAML; indent with spaces"
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return SettingsFile.Problem(line: mark.line, fault: problem, remedy: remedy)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.sorted().joined(separator: ", ")
            return SettingsFile.Problem(
                line: context.mark.line, fault: "keys occur twice: \(names)", remedy: "Keep one of each")
        default: return SettingsFile.Problem(line: nil, fault: "\(error)", remedy: remedy)
        }
    }
}

// The settings of `verifyReceipt`.

extension SettingsReader {
    mutating func dropIn(_ section: inout SettingsSection, _ app: RegisteredApp) -> DropInSettings {
        var settings = DropInSettings(app: app.id)
        if let index = section.entries.firstIndex(where: { $0.key == "answers_as_of" }) {
            note(
                section.entries.remove(at: index).line,
                "answers_as_of was replaced by Apple's newest form, which every answer of verifyReceipt has",
                "Remove it; docs/drop-in.md lists the members of the newest form")
        }
        if let record = choice(&section, "record_verify_receipt", DropInSettings.Recording.self) {
            settings.recording = record
        }
        if let answer = choice(&section, "answer_erased", DropInSettings.ErasedAnswer.self) {
            settings.erased = answer
        }
        if let budget = number(&section, "ask_for_missing_news_ms", in: 0...10_000), budget > 0 {
            settings.askSeconds = Double(budget) / 1000
            if !app.hasAppStoreKey {
                note(
                    section.lines["ask_for_missing_news_ms"],
                    "the app \(app.id) asks the App Store for missing news and has no key for it",
                    "Add app_store_keys, or remove ask_for_missing_news_ms")
            }
        }
        return settings
    }
}

/// The entries of a mapping that were not read yet.
struct SettingsSection {
    struct Entry {
        let key: String
        let value: Node
        let line: Int?
    }

    let name: String
    var entries: [Entry]
    /// The allowed names that were asked for so far.
    var known: [String] = []
    /// The lines of all entries, including those that were read.
    let lines: [String: Int?]

    mutating func take(_ key: String) -> Entry? {
        known.append(key)
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        return entries.remove(at: index)
    }
}

/// The error in a value, and the action to take.
package struct SettingFault: Error, Sendable {
    let fault: String
    let remedy: String

    package init(_ fault: String, _ remedy: String) {
        self.fault = fault
        self.remedy = remedy
    }
}
