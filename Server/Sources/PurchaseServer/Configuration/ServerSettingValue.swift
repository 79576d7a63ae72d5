import PurchaseVerification

/// The value of a setting, and the place where it was given.
package struct ServerSettingValue: Sendable {
    /// The places where settings can be given, the strongest last.
    package enum Source: Sendable {
        case file(line: Int?)
        case environment
        case option
    }

    package let source: Source
    /// The texts that were written there, never empty.
    package let texts: [String]

    package init(_ source: Source, _ texts: [String]) {
        self.source = source
        self.texts = texts
    }

    /// The text; the last one if several were given.
    var text: String { texts.last ?? "" }

    var isFromFile: Bool {
        if case .file = source { true } else { false }
    }

    var isFromEnvironment: Bool {
        if case .environment = source { true } else { false }
    }
}
