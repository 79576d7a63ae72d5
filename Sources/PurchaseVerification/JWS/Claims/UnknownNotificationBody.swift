/// The app that an unknown object of a notification names. Every known one names it by the same claims; everything else
/// in it stays unread.
struct UnknownNotificationBody {
    let bundleID: String?
    let appAppleID: UInt64?
    let environment: String?

    /// - Parameter claims: the unread claims of a notification.
    init(_ claims: [String: JSONValue]) {
        let objects = claims.values.compactMap { value -> [String: JSONValue]? in
            if case .object(let members) = value { members } else { nil }
        }
        // Two objects that name different apps leave it open which one is meant.
        bundleID = Self.single(objects.compactMap { $0["bundleId"]?.text })
        environment = Self.single(objects.compactMap { $0["environment"]?.text })
        let numbers = Set(objects.compactMap { $0["appAppleId"]?.integer.flatMap { UInt64(exactly: $0) } })
        appAppleID = numbers.count == 1 ? numbers.first : nil
    }

    private static func single(_ texts: [String]) -> String? {
        guard let first = texts.first, texts.allSatisfy({ $0.isSame(as: first) }) else { return nil }
        return first
    }
}
