/// The attribute types found so far, in constant space: Apple's types are in two narrow ranges.
struct SeenAttributes {
    private var low: UInt64 = 0
    private var purchase: UInt64 = 0
    private var others: [Int64] = []

    @inline(__always)
    mutating func insert(_ type: Int64) throws(VerificationError) {
        let isNew: Bool
        if type >= 1700, type < 1764 {
            let bit: UInt64 = 1 << UInt64(type - 1700)
            isNew = purchase & bit == 0
            purchase |= bit
        } else if type >= 0, type < 64 {
            let bit: UInt64 = 1 << UInt64(type)
            isNew = low & bit == 0
            low |= bit
        } else {
            // Bounded by the budget of attributes.
            isNew = !others.contains(type)
            others.append(type)
        }
        guard isNew else {
            throw VerificationError(.attributeDuplicated, found: "attribute \(type) twice")
        }
    }
}
