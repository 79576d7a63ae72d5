public import PurchaseLedger
public import PurchaseVerification

/// The settings of the server, all with defaults that work on a developer's machine.
public struct ServerConfiguration: Sendable {
    /// The address to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 takes a free one.
    public var port = 8080
    /// Whom to trust.
    public var anchors: [TrustAnchor] = TrustAnchor.apple
    /// The environments from which receipts are accepted.
    public var environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    /// The shared secret of whatever app; where it is set, requests for receipts with subscriptions must carry it.
    public var sharedSecret: String?
    /// The shared secrets of apps by bundle id, for receipts of these; `sharedSecret` stands above them.
    public var sharedSecrets: [String: String] = [:]
    /// The apps whose purchases are recorded, by the names that keys are made for.
    public var apps: [String: RegisteredApp] = [:]
    /// The proxies of the operator, whose `X-Forwarded-For` is believed; without them nobody's is.
    public var trustedProxies: [AddressRange] = []
    public var limits = Limits()

    public init() {}

    /// What one client, or all of them together, may take.
    public struct Limits: Sendable {
        /// The largest request body, in bytes: base64 of the largest size that the core takes (16 MiB), in JSON.
        public var bodyBytes = 17 << 20
        /// How long the body of a request may take to arrive, in seconds.
        public var requestSeconds: Int64 = 30
        /// How long a connection may take until the head of its next request is there, in seconds.
        public var idleSeconds: Int64 = 60
        /// Connections at the same time; more wait in the system's queue.
        public var connections = 4096
        /// Bytes of bodies that are held at the same time, of all requests together; a request beyond that is told to try again
        /// later (21009). A body counts only once its bytes are there, so slow senders take nothing from others.
        public var bufferedBytes = 256 << 20
        /// How often one address may call `/v1`, with whatever key: enough for a backend that relays for its apps.
        public var perAddress = RateLimit(perSecond: 1000, burst: 2000)
        /// How often one key may call `/v1`.
        public var perKey = RateLimit(perSecond: 1000, burst: 2000)

        public init() {}
    }
}
