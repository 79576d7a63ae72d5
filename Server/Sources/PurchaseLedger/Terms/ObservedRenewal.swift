public import PurchaseVerification

/// The facts of one subscription's renewal: the newest renewal info, and every grace period that was ever signed.
public final class ObservedRenewal: Sendable {
    /// The subscription.
    public let key: RenewalKey
    /// When the newest renewal info was signed.
    public let stamp: Timestamp
    /// The newest renewal info.
    public let info: RenewalInfo
    /// Grace periods by their end, the earliest first.
    public let gracePeriods: [GracePeriod]

    init(key: RenewalKey, stamp: Timestamp, info: RenewalInfo, gracePeriods: [GracePeriod]) {
        self.key = key
        self.stamp = stamp
        self.info = info
        self.gracePeriods = gracePeriods
    }
}

extension ObservedRenewal: Hashable {
    public static func == (left: ObservedRenewal, right: ObservedRenewal) -> Bool {
        left === right
            || (left.key == right.key && left.stamp == right.stamp && left.info == right.info
                && left.gracePeriods == right.gracePeriods)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(stamp)
    }
}

/// A grace period that renewal info stated: access continues while Apple tries to collect the price.
public struct GracePeriod: Sendable, Hashable {
    /// When it ends.
    public var end: Timestamp
    /// When it was first signed.
    public var firstStamp: Timestamp
    /// When it was last signed. Newer renewal info without it ended it early.
    public var lastStamp: Timestamp

    /// Creates a grace period.
    public init(end: Timestamp, firstStamp: Timestamp, lastStamp: Timestamp) {
        self.end = end
        self.firstStamp = firstStamp
        self.lastStamp = lastStamp
    }
}
