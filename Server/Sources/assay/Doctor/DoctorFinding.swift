/// What one check found about an installation.
struct DoctorFinding: Sendable, Equatable, Encodable {
    /// What was checked; a stable code, such as `database_schema`.
    let check: Check
    let state: State
    /// The facts, as a sentence without a full stop.
    let found: String
    /// What to do, as a sentence; `nil` if nothing has to be done.
    let action: String?

    /// The checks, in the order in which they are shown.
    enum Check: String, Sendable, CaseIterable, Encodable {
        case settings
        case database
        case databaseSchema = "database_schema"
        case databaseWrites = "database_writes"
        case databaseSpace = "database_space"
        case databaseDurability = "database_durability"
        case clock
        case certificates
        case keys
        case listening
        case proxies
        case limits
        case webhooks
        case appStore = "app_store"
        case record
        case checkpoints
        case backups
    }

    enum State: String, Sendable, CaseIterable, Encodable {
        case fine, warning, failed
    }

    private init(_ check: Check, _ state: State, _ found: String, _ action: String?) {
        (self.check, self.state, self.found, self.action) = (check, state, found, action)
    }

    static func fine(_ check: Check, _ found: String) -> DoctorFinding { DoctorFinding(check, .fine, found, nil) }

    static func warning(_ check: Check, _ found: String, do action: String) -> DoctorFinding {
        DoctorFinding(check, .warning, found, action)
    }

    static func failed(_ check: Check, _ found: String, do action: String) -> DoctorFinding {
        DoctorFinding(check, .failed, found, action)
    }
}
