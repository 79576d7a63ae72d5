import PurchaseVerification

/// One setting of the server: the places where it can be given, its default, and the reader of its text.
///
/// An option overrides the environment, the environment overrides the settings file, and the file overrides the
/// default.
package struct ServerSetting: Sendable {
    /// Its place in the settings file, such as `server.port`.
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
    /// The part of a value in the settings file that is a path relative to the folder of that file.
    let path: PathForm
    /// Stores values in the configuration.
    private let apply:
        @Sendable (ServerSettingValue, NamedFiles, inout ServerConfiguration) throws(SettingFault) -> Void

    /// The part of a value that is a path.
    enum PathForm: Sendable {
        case none
        case whole
        /// The text after `sqlite:`.
        case database
        /// All of it, unless it is a URL or `-`.
        case checkpoints
    }

    init(
        _ name: String, variable: String? = nil, option: String? = nil, default defaultText: String,
        _ summary: String, isList: Bool = false, path: PathForm = .none,
        apply:
            @escaping @Sendable (ServerSettingValue, NamedFiles, inout ServerConfiguration) throws(SettingFault)
            -> Void
    ) {
        self.name = name
        self.variable = variable
        self.option = option
        self.defaultText = defaultText
        self.summary = summary
        self.isList = isList
        self.path = path
        self.apply = apply
    }

    /// Stores a value in the configuration.
    ///
    /// - Throws: a description of the error in it.
    func put(
        _ value: ServerSettingValue, _ files: NamedFiles, into configuration: inout ServerConfiguration
    ) throws(SettingFault) {
        try apply(value, files, &configuration)
    }

    /// The help of its option: its purpose, its default, and the other places where it can be given.
    package var help: String {
        let places = [variable, "\(name) in the settings file"].compactMap(\.self).joined(separator: ", or ")
        return "\(summary) (\(defaultText)). Also: \(places)."
    }
}

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
