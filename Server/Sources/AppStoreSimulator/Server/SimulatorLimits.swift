/// What the simulator takes from a client, each limit with its reason.
enum SimulatorLimits {
    /// The longest path with its query. The longest that there is, an action on a transaction, has 80 bytes, and customers and
    /// apps have names of at most 255 bytes, each of which may be written with three.
    static let targetBytes = 2048
    /// One header field. Browsers and clients send hundreds of bytes; no header that the simulator reads has more.
    static let headerFieldBytes = 8 << 10
    /// All header fields together.
    static let headerBytes = 16 << 10
    /// A body of the control API, which describes one thing.
    static let controlBody = 1 << 20
    /// A body of `verifyReceipt`: more than Apple takes.
    static let verifyReceiptBody = 17 << 20

    /// The longest name of a member. Those that the simulator knows have at most 27 bytes.
    static let memberNameBytes = 64
    /// The longest text in JSON that is not plain ASCII. Foundation hashes and compares texts in their normal form, in a time
    /// that grows with the square of the length where marks follow each other; texts in ASCII need no normal form.
    static let unicodeTextBytes = 1024
    /// How deep JSON may nest: a product's offers are at level 4.
    static let jsonDepth = 16
    /// How many values JSON may have: Foundation takes dozens of times their size for small ones.
    static let jsonValues = 4096
}
