import PurchaseAPI
import PurchaseLedger
package import PurchaseVerification
import Yams

/// An error in the settings, and how to correct it.
package struct SettingProblem: Sendable, Equatable, CustomStringConvertible {
    package var code: Code
    package var place: Place
    /// The error: the setting, and what was found.
    package var fault: String
    /// What is expected instead.
    package var remedy: String

    /// The kind of an error; its raw value is stable.
    package enum Code: String, Sendable, CaseIterable {
        /// The file is not YAML in UTF-8, or a part of it has another structure.
        case malformed = "settings_malformed"
        case unknown = "setting_unknown"
        /// A setting is missing, or has no value.
        case missing = "setting_missing"
        case wrong = "setting_wrong"
        /// Two settings do not fit together.
        case conflict = "setting_conflict"
        case file = "file_unusable"
        /// A setting names a variable of the environment that is not set.
        case variable = "variable_unset"
        /// A variable has the form of a setting's, and none has it. A warning.
        case unknownVariable = "variable_unknown"
    }

    /// Where a value was given.
    package enum Place: Sendable, Equatable {
        case file(line: Int?)
        case environment
        case option
    }

    /// The line of the file, from 1.
    package var line: Int? {
        if case .file(let line) = place { line } else { nil }
    }

    package var description: String {
        "\(line.map { "line \($0): " } ?? "")\(fault). \(remedy). (\(code.rawValue))"
    }
}

/// All errors in the settings, those of the file first, in the order of their lines.
package struct SettingProblems: Error, Sendable, CustomStringConvertible {
    package let problems: [SettingProblem]
    /// What is probably a mistake besides.
    package var warnings: [SettingProblem] = []

    package var description: String { problems.map(\.description).joined(separator: "\n") }

    /// The same errors; those of the file begin with its path.
    package func found(in path: String) -> SettingProblems {
        SettingProblems(
            problems: problems.map { problem in
                guard case .file(let line) = problem.place else { return problem }
                var problem = problem
                problem.place = .file(line: nil)
                problem.fault = "\(path): \(line.map { "line \($0): " } ?? "")\(problem.fault)"
                return problem
            }, warnings: warnings)
    }
}

/// The error in a value, and the action to take.
package struct SettingFault: Error, Sendable {
    let code: SettingProblem.Code
    let fault: String
    let remedy: String

    package init(_ fault: String, _ remedy: String, _ code: SettingProblem.Code = .wrong) {
        (self.fault, self.remedy, self.code) = (fault, remedy, code)
    }
}

/// Reads values by tables of settings, and collects all errors in them.
struct SettingsReader {
    private(set) var problems: [SettingProblem] = []
    /// The folder of the settings file; `nil` leaves paths unchanged.
    let folder: String?
    /// The reader of the files that settings name; `nil` to read none.
    let files: NamedFiles?
    /// Whether certificates besides Apple's are trusted.
    var isTrustExtended = true
    /// The products of the app; `nil` if it has no setting `products`.
    var products: Set<ExactText>?
    /// The products that other settings of the app name.
    var namedProducts: [(id: String, entry: SettingEntry)] = []
    /// The variables that other settings name.
    var namedVariables: Set<String> = []
    /// The app of each value that only one app may have.
    var owners: [String: String] = [:]

    init(folder: String? = nil, files: NamedFiles? = nil) { (self.folder, self.files) = (folder, files) }

    mutating func note(_ entry: SettingEntry, _ fault: SettingFault) {
        note(entry.place, "\(entry.name) \(fault.fault)", fault.remedy, fault.code)
    }

    mutating func note(
        _ place: SettingProblem.Place, _ fault: String, _ remedy: String, _ code: SettingProblem.Code = .wrong
    ) {
        problems.append(SettingProblem(code: code, place: place, fault: fault, remedy: remedy))
    }

    /// Whether a problem was noted about a value.
    func isWrong(_ entry: SettingEntry) -> Bool {
        problems.contains { $0.place == entry.place && $0.fault.hasPrefix("\(entry.name) ") }
    }

    func entry(_ key: String, _ name: String, _ node: Node, _ place: SettingProblem.Place) -> SettingEntry {
        SettingEntry(key: key, name: name, node: node, place: place, folder: folder, files: files)
    }

    /// The mapping at the top of a file; `nil` if the file is empty or not YAML.
    mutating func root(_ bytes: [UInt8]) -> SettingEntry? {
        var bytes = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // No character of several bytes contains a line feed.
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            let wrong = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
            note(
                .file(line: wrong.map { $0 + 1 }), "the text is not UTF-8",
                "Save the file as UTF-8, or remove the bytes that are not", .malformed)
            return nil
        }
        do {
            return try Yams.compose(yaml: text).map { entry("", "", $0, .file(line: nil)) }
        } catch YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _)
        {
            note(.file(line: mark.line), problem, "Correct the YAML; indent with spaces", .malformed)
        } catch YamlError.duplicatedKeysInMapping(let duplicates, let context) {
            note(
                .file(line: context.mark.line), "keys occur twice: \(duplicates.sorted().joined(separator: ", "))",
                "Keep one of each", .malformed)
        } catch {
            note(.file(line: nil), "\(error)", "Correct the YAML; indent with spaces", .malformed)
        }
        return nil
    }

    /// Reads the settings of a mapping into a target, in the order of the table.
    ///
    /// - Returns: what was given, by the names of the table.
    @discardableResult
    mutating func read<Target>(
        _ table: [Setting<Target>], _ mapping: SettingEntry, into target: inout Target
    ) -> [String: SettingEntry] {
        let given = self.given(table.map(\.name), in: mapping)
        for setting in table {
            if let entry = given[setting.name] { setting.apply(entry, &self, &target) }
        }
        return given
    }

    /// The entries of a mapping by their names, which have periods between their parts. Other entries are noted.
    mutating func given(_ names: [String], in mapping: SettingEntry, _ prefix: String = "") -> [String: SettingEntry] {
        var given: [String: SettingEntry] = [:]
        for entry in entries(mapping) {
            let path = prefix + entry.key
            if entry.key.contains(".") {
                unknown(entry, names, prefix, mapping.name)
            } else if names.contains(path) {
                given[path] = entry
            } else if names.contains(where: { $0.hasPrefix("\(path).") }) {
                given.merge(self.given(names, in: entry, "\(path).")) { $1 }
            } else {
                unknown(entry, names, prefix, mapping.name)
            }
        }
        return given
    }

    private mutating func unknown(_ entry: SettingEntry, _ names: [String], _ prefix: String, _ section: String) {
        let known = Set(
            names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count).prefix { $0 != "." }) }
        ).sorted()
        let meant = WordSuggestion.nearest(to: entry.key, among: known).map { "Did you mean '\($0)'? " } ?? ""
        note(
            entry.place, "\(section.isEmpty ? "the file" : section) has no setting '\(entry.key.prefix(64))'",
            "\(meant)Known are \(known.joined(separator: ", "))", .unknown)
    }

    /// The entries of a mapping; none if it is not a mapping.
    mutating func entries(_ mapping: SettingEntry) -> [SettingEntry] {
        let (node, name) = (mapping.node, mapping.name)
        guard let pairs = node.mapping else {
            if node.null == nil {
                note(
                    .file(line: node.mark?.line), "\(name.isEmpty ? "the file" : name) is not a mapping",
                    "Write key: value pairs below it, indented", .malformed)
            }
            return []
        }
        var entries: [SettingEntry] = []
        for (key, value) in pairs {
            let line = SettingProblem.Place.file(line: key.mark?.line)
            guard let word = key.scalar?.string else {
                note(
                    line, "a key of \(name.isEmpty ? "the file" : name) is not a word",
                    "Write a plain word before the colon", .malformed)
                continue
            }
            entries.append(entry(word, name.isEmpty ? word : "\(name).\(word)", value, line))
        }
        return entries
    }

    /// The entries of a list; none if it is not a list.
    mutating func items(_ list: SettingEntry, _ example: String) -> [SettingEntry] {
        guard let nodes = list.node.sequence else {
            note(list, SettingFault("is not a list", "Write \(list.key): followed by entries \(example)", .malformed))
            return []
        }
        return nodes.map { entry(list.key, list.name, $0, .file(line: $0.mark?.line)) }
    }
}

/// The reader of the files that settings name.
package struct NamedFiles: Sendable {
    /// The certificates of a file.
    package var anchors: @Sendable (_ path: String) throws(SettingFault) -> [TrustAnchor]
    /// The secret that a file holds.
    package var secret: @Sendable (_ path: String) throws(SettingFault) -> String
    /// The private key that a file of mode 0600 holds.
    package var privateKey: @Sendable (_ path: String) throws(SettingFault) -> String
    /// The bytes of a file.
    package var bytes: @Sendable (_ path: String) throws(SettingFault) -> [UInt8]
    /// A variable of the environment.
    package var variable: @Sendable (_ name: String) -> String?

    package init(
        anchors: @escaping @Sendable (_ path: String) throws(SettingFault) -> [TrustAnchor],
        secret: @escaping @Sendable (_ path: String) throws(SettingFault) -> String,
        privateKey: (@Sendable (_ path: String) throws(SettingFault) -> String)? = nil,
        bytes: @escaping @Sendable (_ path: String) throws(SettingFault) -> [UInt8] = { _ throws(SettingFault) in [] },
        variable: @escaping @Sendable (_ name: String) -> String? = { _ in nil }
    ) {
        (self.anchors, self.secret, self.privateKey) = (anchors, secret, privateKey ?? secret)
        (self.bytes, self.variable) = (bytes, variable)
    }
}
