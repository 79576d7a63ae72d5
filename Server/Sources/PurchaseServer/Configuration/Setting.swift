import Foundation
import PurchaseLedger
import PurchaseVerification
import Yams

/// One setting: the places where it can be given, its default, its documentation, and the reader of its value.
///
/// The tables of settings give reading, checking, the help of options and the tables of docs/settings.md. An option
/// overrides the environment, the environment overrides the settings file, and the file overrides the default.
package struct Setting<Target: Sendable>: Sendable {
    /// Its place in the settings file, such as `server.port`; for a setting of an app, below the app.
    package let name: String
    /// Its variable in the environment; `nil` if it has none.
    package let variable: String?
    /// Its option on the command line; `nil` if it has none.
    package let option: String?
    /// The default, for people.
    package let defaultText: String
    /// Its purpose, in a sentence.
    package let summary: String
    /// Whether several values can be given: separated by commas in the environment, by repeating the option, as a list
    /// in the file.
    let isList: Bool
    /// The settings of its value, for the documentation.
    let inner: [SettingRow]
    /// Whether two configurations differ in what only a restart changes; `nil` if none is needed.
    package let differs: (@Sendable (Target, Target) -> Bool)?
    /// Whether only a restart changes it.
    package let restarts: Bool
    /// Reads a value into the target, and notes what is wrong with it.
    let apply: @Sendable (SettingEntry, inout SettingsReader, inout Target) -> Void

    init(
        _ name: String, _ defaultText: String, _ summary: String, option: String? = nil, variable: String? = nil,
        isList: Bool = false, inner: [SettingRow] = [], restarts: Bool? = nil,
        differs: (@Sendable (Target, Target) -> Bool)? = nil,
        read:
            @escaping @Sendable (SettingEntry, inout SettingsReader, inout Target) throws(SettingFault)
            -> Void
    ) {
        (self.name, self.defaultText, self.summary, self.option) = (name, defaultText, summary, option)
        self.variable = variable ?? option.map { "ASSAY_" + $0.dropFirst(2).uppercased().replacing("-", with: "_") }
        (self.isList, self.inner, self.differs) = (isList, inner, differs)
        self.restarts = restarts ?? (differs != nil)
        apply = { entry, reader, target in
            do throws(SettingFault) {
                try read(entry, &reader, &target)
            } catch {
                reader.note(entry, error)
            }
        }
    }

    init<Value: Equatable & Sendable>(
        _ name: String, _ defaultText: String, _ summary: String, option: String? = nil, variable: String? = nil,
        restarts: Bool = false, _ place: any WritableKeyPath<Target, Value> & Sendable, _ form: SettingForm<Value>
    ) {
        var differs: (@Sendable (Target, Target) -> Bool)?
        if restarts { differs = { $0[keyPath: place] != $1[keyPath: place] } }
        self.init(
            name, defaultText, summary, option: option, variable: variable, isList: form.isList, differs: differs
        ) { entry, _, target throws(SettingFault) in target[keyPath: place] = try form.read(entry) }
    }

    init<Value: Equatable & Sendable>(
        _ name: String, _ defaultText: String, _ summary: String, option: String? = nil, variable: String? = nil,
        restarts: Bool = false, _ place: any WritableKeyPath<Target, Value?> & Sendable, _ form: SettingForm<Value>
    ) {
        let optional = SettingForm<Value?>(isList: form.isList) { entry throws(SettingFault) in try form.read(entry) }
        self.init(
            name, defaultText, summary, option: option, variable: variable, restarts: restarts, place, optional)
    }

    /// The same setting of a value that has the target as a part.
    func at<Outer: Sendable>(
        _ place: any WritableKeyPath<Outer, Target> & Sendable, below prefix: String = ""
    ) -> Setting<Outer> {
        Setting<Outer>(prefix + name, defaultText, summary, isList: isList, inner: inner) {
            [apply] entry, reader, outer in
            apply(entry, &reader, &outer[keyPath: place])
        }
    }

    /// The rows of the documentation.
    package static func rows(_ table: [Setting], below prefix: String = "") -> [SettingRow] {
        table.flatMap { setting in
            [
                SettingRow(
                    name: prefix + setting.name, variable: setting.variable, option: setting.option,
                    defaultText: setting.defaultText, summary: setting.summary, restarts: setting.restarts)
            ]
                + setting.inner.map { row in
                    var row = row
                    row.name = "\(prefix)\(setting.name)\(row.name)"
                    return row
                }
        }
    }

    /// The help of its option: its purpose, its default, and the other places where it can be given.
    package var help: String {
        let places = [variable, "\(name) in the settings file"].compactMap(\.self).joined(separator: ", or ")
        return "\(summary) (\(defaultText)). Also: \(places)."
    }
}

/// A setting in the documentation.
package struct SettingRow: Sendable, Equatable {
    package var name: String
    package let variable: String?
    package let option: String?
    package let defaultText: String
    package let summary: String
    /// Whether only a restart changes it.
    package let restarts: Bool
}

/// A value as it was written, and the place where it was written.
struct SettingEntry {
    /// The last word of its name.
    let key: String
    /// Its name in messages: its path in the file, its variable, or its option.
    let name: String
    let node: Node
    let place: SettingProblem.Place
    /// The folder to which paths are relative; `nil` leaves them unchanged.
    let folder: String?
    /// The reader of the files that settings name; `nil` to read none.
    let files: NamedFiles?

    /// Its text.
    func text() throws(SettingFault) -> String {
        guard let text = try Self.text(node, place) else {
            throw SettingFault("is empty or not text", "Give it a text, or remove it", .missing)
        }
        return text
    }

    /// Its texts; a single text is a list of one.
    func texts() throws(SettingFault) -> [String] {
        if let text = try Self.text(node, place) { return [text] }
        guard let nodes = node.sequence, !nodes.isEmpty else {
            throw SettingFault("is empty or not a list", "Write \(key): [one, another]", .missing)
        }
        var texts: [String] = []
        for node in nodes {
            guard let text = try Self.text(node, place) else {
                throw SettingFault(
                    "has an entry that is empty or not text", "Write texts only; quote numbers", .missing)
            }
            texts.append(text)
        }
        return texts
    }

    /// The values of its texts. One fault names all texts that are wrong.
    func each<Value>(_ read: (String) throws(SettingFault) -> Value) throws(SettingFault) -> [Value] {
        var (values, faults): ([Value], [SettingFault]) = ([], [])
        for text in try texts() {
            do throws(SettingFault) { values.append(try read(text)) } catch { faults.append(error) }
        }
        guard let first = faults.first else { return values }
        throw SettingFault(faults.map(\.fault).joined(separator: ", and "), first.remedy, first.code)
    }

    private static func text(_ node: Node, _ place: SettingProblem.Place) throws(SettingFault) -> String? {
        guard node.null == nil, let text = node.scalar?.string, !text.isEmpty else { return nil }
        // A shell or a template was meant to replace it.
        if case .file = place, let name = text.firstMatch(of: /\$\{\w+\}/)?.output {
            throw SettingFault(
                "has \(name), and variables are not replaced in the settings file",
                "Write the value, or give the setting by its own variable (docs/settings.md)", .variable)
        }
        return text
    }

    /// A path that begins in the folder.
    func path(_ text: String) -> String {
        guard let folder, !text.hasPrefix("/") else { return text }
        return "\(folder)/\(text)"
    }
}

/// The form of a value: how it is read, and what to write instead of a wrong one.
struct SettingForm<Value: Sendable>: Sendable {
    var isList = false
    let read: @Sendable (SettingEntry) throws(SettingFault) -> Value
}

extension SettingForm where Value == String {
    static var text: Self { Self { entry throws(SettingFault) in try entry.text() } }

    /// A path, without a look at the file.
    static var path: Self { Self { entry throws(SettingFault) in entry.path(try entry.text()) } }
}

extension SettingForm where Value == [String] {
    static var texts: Self { Self(isList: true) { entry throws(SettingFault) in try entry.texts() } }
}

extension SettingForm where Value == Set<String> {
    static var texts: Self { Self(isList: true) { entry throws(SettingFault) in Set(try entry.texts()) } }
}

extension SettingForm {
    /// A text that is read by a function, for which `nil` is a wrong one.
    static func parsed(_ remedy: String, _ parse: @escaping @Sendable (String) -> Value?) -> Self {
        Self { entry throws(SettingFault) in
            let text = try entry.text()
            guard let value = parse(text) else { throw SettingFault("is '\(text.prefix(64))'", remedy) }
            return value
        }
    }
}

extension SettingForm where Value: Numeric {
    /// A whole number; all bounds are exact in all types that settings have.
    static func number(_ bounds: ClosedRange<Int64>) -> Self {
        parsed("Write a whole number from \(bounds.lowerBound) to \(bounds.upperBound)") { text in
            Int64(text).flatMap { bounds.contains($0) ? Value(exactly: $0) : nil }
        }
    }
}

extension SettingForm where Value == Int64 {
    /// A fixed length of time, in milliseconds.
    static var time: Self {
        parsed("Write a number and a unit: 90s, 15m, 24h or 30d") { text in
            if case .fixed(let milliseconds) = PassDuration(text) { milliseconds } else { nil }
        }
    }

    /// A fixed length of time of at most a day, in milliseconds, or 0 for none.
    static var tolerance: Self {
        parsed("Write 0, or a number and a unit of at most a day: 90s, 15m or 1h") { text in
            if text == "0" { return 0 }
            guard case .fixed(let milliseconds) = PassDuration(text) else { return nil }
            return milliseconds <= 86_400_000 ? milliseconds : nil
        }
    }
}

extension SettingForm where Value == Bool {
    static var flag: Self {
        Self { entry throws(SettingFault) in
            switch entry.node.scalar?.string {
            case "true": return true
            case "false": return false
            case let text: throw SettingFault("is '\(text?.prefix(64) ?? "no word")'", "Write true or false")
            }
        }
    }
}

extension SettingForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of several words, written with `_` or with `-`.
    static var choice: Self {
        parsed("Choose one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))") { text in
            Value(rawValue: text.lowercased().replacing("-", with: "_"))
        }
    }
}

extension SettingForm where Value == [AddressRange] {
    static var ranges: Self {
        Self(isList: true) { entry throws(SettingFault) in
            try entry.each { text throws(SettingFault) in
                guard let range = AddressRange(text) else {
                    throw SettingFault("has '\(text)'", "Write addresses or ranges: 127.0.0.1, 10.0.0.0/8, fd00::/8")
                }
                return range
            }
        }
    }

    /// Ranges of an operator's own proxies.
    static var proxies: Self {
        Self(isList: true) { entry throws(SettingFault) in
            let ranges = try Self.ranges.read(entry)
            guard !ranges.contains(where: \.isLargerThanPrivate) else {
                throw SettingFault(
                    "believes addresses of the whole internet, so each client could choose the address that is recorded",
                    "Write the addresses or the private range of the proxies: 10.0.0.0/8")
            }
            return ranges
        }
    }
}

extension SettingForm where Value == Set<AppStoreEnvironment> {
    static var environments: Self {
        Self(isList: true) { entry throws(SettingFault) in
            Set(try entry.texts().map(AppStoreEnvironment.init(anyCase:)))
        }
    }
}

extension AppStoreEnvironment {
    /// An environment by its name; those of Apple in any case.
    package init(anyCase name: String) {
        self = Self.ofApple.first { $0.name.lowercased() == name.lowercased() } ?? AppStoreEnvironment(name)
    }

    /// The environments that Apple's certificates sign.
    static let ofApple: Set<AppStoreEnvironment> = [.production, .sandbox, .xcode]
}
