/// The receipt of an answer to a transaction receipt: an object whose keys are those of its purchase info, with
/// underscores, and whose values are all strings (iOS 6 and earlier).
public struct FlatReceipt: Sendable, Equatable {
    /// The members, in the order in which they are written.
    public private(set) var members: [Member]

    /// A key with its value.
    public struct Member: Sendable, Equatable {
        public let key: String
        public let value: String

        fileprivate func has(_ name: StaticString) -> Bool {
            name.withUTF8Buffer { key.utf8.elementsEqual($0) }
        }

        /// Compares bytes: texts come from outside, and `String` takes quadratic time for some of them.
        public static func == (left: Member, right: Member) -> Bool {
            left.key.utf8.elementsEqual(right.key.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
        }
    }

    /// - Parameter members: the members with the keys of the answer.
    init(members: [Member]) { self.members = members }

    /// - Parameter attributes: the keys of the purchase info, with hyphens, and their values.
    public init(attributes: [(key: String, value: String)]) {
        members = attributes.map { attribute in
            Member(
                key: String(attribute.key.map { $0 == "-" ? "_" : $0 }), value: attribute.value)
        }
    }

    /// The value of a key, with underscores; `nil` if there is none. A new key is added at the end.
    public subscript(_ key: StaticString) -> String? {
        get { members.first { $0.has(key) }?.value }
        set {
            let index = members.firstIndex { $0.has(key) }
            switch (index, newValue) {
            case (let index?, let value?): members[index] = Member(key: "\(key)", value: value)
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: "\(key)", value: value))
            case (nil, nil): break
            }
        }
    }

    /// Writes the object.
    public func write(to json: inout JSONWriter) {
        json.object { json in
            for member in members {
                json.key(member.key)
                json.string(member.value)
            }
        }
    }
}

/// The expected renewal of the subscription of a transaction receipt: members of the answer itself (iOS 6 and earlier).
public struct FlatRenewalInfo: Sendable, Equatable {
    /// Empty if a reply lacks it.
    public var autoRenewProductID: String
    /// Written as a number, 1 or 0.
    public var autoRenews: Bool
    /// The reason why it ended, 1 to 5; absent while it is active.
    public var expirationIntent: Int?
    /// Whether the store is still trying to collect the price; only after a failed attempt.
    public var isInBillingRetryPeriod: Bool?

    public init(autoRenewProductID: String, autoRenews: Bool) {
        (self.autoRenewProductID, self.autoRenews) = (autoRenewProductID, autoRenews)
    }

    /// Writes the members.
    func write(to json: inout JSONWriter) {
        json.member("auto_renew_product_id", autoRenewProductID)
        json.key("auto_renew_status")
        json.number(autoRenews ? 1 : 0)
        json.digitsMember("expiration_intent", expirationIntent.map(UInt64.init(clamping:)))
        json.bitMember("is_in_billing_retry_period", isInBillingRetryPeriod)
    }
}
