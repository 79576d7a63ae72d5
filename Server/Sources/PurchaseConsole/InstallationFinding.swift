/// What one check found about the installation.
public struct InstallationFinding: Sendable, Equatable {
    /// `fine`, `warning` or `failed`.
    public var state: String
    /// What was checked; a stable code.
    public var check: String
    /// The facts, as a sentence.
    public var found: String
    /// What to do; `nil` if nothing has to be done.
    public var action: String?

    public init(state: String, check: String, found: String, action: String?) {
        (self.state, self.check, self.found, self.action) = (state, check, found, action)
    }
}
