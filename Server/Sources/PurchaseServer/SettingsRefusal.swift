/// The errors of settings, each in a line.
public struct SettingsRefusal: Error {
    let reasons: [String]

    public init(_ reasons: [String]) { self.reasons = reasons }
}
