/// Asks the App Store for news about subscriptions that the ledger lacks, and records them.
package protocol MissingNewsSource: Sendable {
    /// Asks about subscriptions, and records what the App Store signed.
    ///
    /// - Returns: whether anything was recorded, so that the state is read again.
    func fetch(_ news: MissingNews) async throws -> Bool
}
