import ArgumentParser
import PurchaseAPI
import PurchaseLedger

/// The operator's reason for an action.
struct ReasonOption: ParsableArguments {
    @Option(name: .long, help: "Why: \(RequestMembers.reasonRule). It is recorded.")
    var reason: String

    func validate() throws { try Self.require(reason) }

    /// The rule of the HTTP API.
    static func require(_ reason: String) throws {
        guard RequestMembers.isReason(reason) else {
            throw ValidationError("--reason is '\(reason.printable)'. Write \(RequestMembers.reasonRule).")
        }
    }
}
