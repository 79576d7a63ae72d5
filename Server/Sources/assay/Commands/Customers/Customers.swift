import ArgumentParser

/// `assay customers`: a customer's entitlements, and the actions of operators.
struct Customers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what a customer may use and why, and records operators' actions.",
        discussion: """
            Every action is recorded in the journal and listed by GET /v1/events, with its reason. The commands use the settings \
            that the latest start of the server recorded, and can run while the server runs.

            Exit status: 0 if it was done, 1 if the ledger refused it, with the code, 2 for wrong usage or I/O.
            """,
        subcommands: [
            ShowCustomer.self, ShowTimeline.self, SearchCustomers.self, GrantToCustomer.self, RevokeFromCustomer.self,
            LiftGrantOrRevocation.self,
            MergeCustomer.self, AssignCustomerToken.self, MoveCustomerPurchase.self,
            EraseCustomerData.self,
        ])
}
