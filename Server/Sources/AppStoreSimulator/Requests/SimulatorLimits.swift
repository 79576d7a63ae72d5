/// The limits for data from clients, each with its reason.
enum SimulatorLimits {
    /// The longest path with its query. The longest route, an action on a transaction, has 80 bytes, and customers and
    /// apps have names of at most 255 bytes, each of which may be percent-encoded as three.
    static let targetBytes = 2048
    /// One header field. Browsers and clients send hundreds of bytes; no header that the simulator reads has more.
    static let headerFieldBytes = 8 << 10
    /// All header fields together.
    static let headerBytes = 16 << 10
    /// The size of a body of the control API, which describes one thing.
    static let controlBody = 1 << 20
    /// A body of `verifyReceipt`: more than Apple accepts.
    static let verifyReceiptBody = 17 << 20

    /// How long a client may take nothing of its answer, in seconds: the time that the server gives, too.
    static let unreadSeconds: Int64 = 30

    /// The longest name of a member. Those that the simulator knows have at most 27 bytes.
    static let memberNameBytes = 64
    /// The longest text in JSON that is not plain ASCII. Foundation normalises text to hash and compare it, which takes
    /// quadratic time for consecutive combining marks; ASCII needs no normalisation.
    static let unicodeTextBytes = 1024
    /// The depth of nesting in JSON: a product's offers are at level 4.
    static let jsonDepth = 16
    /// The number of values in JSON: for small values, Foundation needs dozens of times their size.
    static let jsonValues = 4096
}
