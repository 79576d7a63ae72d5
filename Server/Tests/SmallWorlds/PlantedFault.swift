/// A wrong rule, to show that the comparison finds it.
public enum PlantedFault: Sendable, CaseIterable {
    /// The evidence that arrived last decides, not that which was signed last.
    case latestArrival
    /// Claims transfer, whatever the setting `transfer` says.
    case claimsTransfer
    /// Account tokens are not read.
    case tokensIgnored
    /// Of the periods of one subscription, only those of its first product count.
    case otherProductIgnored
}
