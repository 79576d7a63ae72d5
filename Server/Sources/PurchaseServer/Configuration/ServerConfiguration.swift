package import AppStoreConnection
public import Foundation
public import Logging
public import PurchaseLedger
public import PurchaseVerification

/// The settings of the server, all with defaults that work on a developer's machine. `ServerSetting` says what each is.
public struct ServerConfiguration: Sendable {
    public var host = "127.0.0.1"
    public var port = 8080
    /// The certificate of the listener on `host` and `port`; `nil` for HTTP without TLS.
    public var tls: ServerCertificate?
    /// The files of the certificate and of its key, as they were named.
    package var tlsFiles: (certificate: String?, key: String?) = (nil, nil)
    /// Where operators reach metrics and health, without TLS and without a key. `assay serve` has
    /// `AdminAddress.standard` as its default; a program that starts a server opens no second port unasked.
    public var admin = AdminAddress.off
    /// Whether no setting names `admin`, so that it gives way to another program that has the port.
    public var isAdminStandard = false
    public var database = "sqlite:assay.sqlite"
    public var logLevel = Logger.Level.info
    public var logFormat = LogFormat.text
    /// Apple's roots, and the certificates that are trusted besides.
    public var anchors: [TrustAnchor] = TrustAnchor.apple
    /// The environments from which `verifyReceipt` accepts receipts.
    public var environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    /// The shared secret of all apps; if it is set, requests for receipts with subscriptions must carry it.
    public var sharedSecret: String?
    /// The keys of the App Store Server API by the names of the apps, the preferred one first.
    package var appStoreKeys: [String: [AppStoreServerKey]] = [:]
    /// The shared secrets of apps by bundle id, for receipts of these; `sharedSecret` takes precedence over them.
    public var sharedSecrets: [String: String] = [:]
    /// The apps whose purchases are recorded, by their names; each API key belongs to one of these names.
    public var apps: [String: RegisteredApp] = [:]
    /// How `verifyReceipt` answers for the receipts of an app, by bundle id.
    public var dropIn: [String: DropInSettings] = [:]
    /// The proxies of the operator, whose `X-Forwarded-For` is trusted. Without any, the header is ignored.
    public var trustedProxies: [AddressRange] = []
    public var record = Record()
    /// The file of the key that signs answers, as it was named.
    package var answerKeyFile: String?
    /// Signs the answers to apps that ask for it; `nil` signs none.
    public var answerSigner: AnswerSigner?
    public var limits = Limits()
    public var appStore = AppStoreSettings()
    /// What apps answer when Apple asks what to show to a customer who is about to cancel, by their names.
    public var retention: [String: RetentionRules] = [:]
    /// How the apps' events of Stripe are verified and read, by their names.
    package var stripe: [String: StripeSettings] = [:]
    /// The receivers of the apps' events, and of their notifications.
    public var webhooks: [Webhook] = []

    public init() {}

    /// How `verifyReceipt` answers for the receipts of each app, by bundle id.
    var dropInOfApps: [String: DropInSettings] {
        var settings = dropIn
        for app in apps.values {
            for bundleID in app.bundleIDs where settings[bundleID] == nil {
                settings[bundleID] = DropInSettings(app: app.id)
            }
        }
        return settings
    }

    /// The format of the lines of the log.
    public enum LogFormat: String, Sendable, CaseIterable {
        /// For people: time, level, message, and facts as `name=value`.
        case text
        /// One JSON object per line.
        case json
    }

    /// The keys of the record, which are in files outside of the database, and where its checkpoints go.
    public struct Record: Sendable {
        /// The folder of keys without a setting: that of the settings file.
        public var folder = "."
        /// The files of the two keys; `nil` for the default, in the folder.
        public var entryKey: String?
        public var signingKey: String?
        /// The name of the log where its key is made; `nil` for a random one.
        public var origin: String?
        public var checkpoints: [CheckpointPlace] = []

        public init() {}
    }

    /// Limits of one client, and of all clients together.
    public struct Limits: Sendable {
        /// The largest request body, in bytes: base64 of the largest size that the core accepts (16 MiB), in JSON.
        public var bodyBytes = 17 << 20
        /// Enough for a receipt of more than 1,000 purchases, or 100 signed transactions.
        public var apiBodyBytes = 1 << 20
        public var requestSeconds: Int64 = 30
        public var idleSeconds: Int64 = 60
        public var mergeOriginals = 5_000
        /// The maximum number of connections; further ones wait in the system's queue.
        public var connections = 4096
        /// Connections of one address (or /64 network of IPv6) at the same time; more are closed at once. An eighth of
        /// all, so that eight addresses are needed to lock out everybody else; a client with a pool of connections has
        /// far fewer.
        public var connectionsPerAddress = 512
        /// Connections of one /24 network of IPv4, or one /48 network of IPv6, which a provider gives to one customer;
        /// more are closed at once. Half of all: two networks are needed to take all, and then idle ones are closed for
        /// new ones.
        public var connectionsPerNetwork = 2048
        /// Addresses that carry the connections and requests of many clients, so neither is counted by address. Those
        /// of `trustedProxies` are not counted either.
        public var uncountedAddresses: [AddressRange] = AddressRange.loopback
        /// Bytes of bodies that are held at the same time, of all requests together; a further request is asked to try
        /// again later. Only bytes that have arrived count, so slow senders do not block others.
        public var bufferedBytes = 256 << 20
        /// Pieces of evidence that are verified or wait for it at the same time; a further request is asked to try
        /// again later. At 60 µs for a usual receipt, that is 60 ms of a core.
        public var waitingVerifications = 1024
        /// The rate at which one address may call `/v1`, with any key, and `verifyReceipt`. It is more than two cores
        /// can answer, so it does not slow a backend that sends everything from one address.
        public var perAddress = RateLimit(perSecond: 50_000, burst: 100_000)
        /// The rate at which one key may call `/v1`.
        public var perKey = RateLimit(perSecond: 1000, burst: 2000)
        /// All installations of an app share a key of the scope `client`. Fifty addresses are needed to take its whole
        /// rate, or five networks.
        public var addressPercentOfKey = 2.0
        public var networkPercentOfKey = 20.0
        /// The part of a key's rate that one address may take: at least one request at once.
        var perAddressOfKey: RateLimit { part(addressPercentOfKey) }
        /// The part of a key's rate that one network may take.
        var perNetworkOfKey: RateLimit { part(networkPercentOfKey) }

        private func part(_ percent: Double) -> RateLimit {
            let part = percent / 100
            return RateLimit(perSecond: perKey.perSecond * part, burst: max(1, (perKey.burst * part).rounded(.up)))
        }
        /// The time limit for one call of the database, in seconds; a request whose call takes longer gets 503. A write
        /// waits at most 10 seconds for another one, and clients wait for a minute: a key is looked up and a claim
        /// recorded within it.
        public var answerSeconds: Double = 20
        /// The rate at which one address may send `verifyReceipt` a wrong shared secret for receipts of one app. Beyond
        /// it, secrets from this address are no longer compared for this app; receipts that need none, and those of
        /// other apps, are still answered.
        public var wrongSecrets = RateLimit(perSecond: 1, burst: 20)

        public init() {}
    }
}

/// A place where checkpoints are published.
public enum CheckpointPlace: Sendable, Equatable {
    /// Every checkpoint, followed by an empty line.
    case standardOutput
    /// The latest checkpoint, in a file that is replaced as a whole.
    case file(String)
    /// The latest checkpoint, by `POST`.
    case url(URL)

    /// Reads `-`, a URL of `http` or `https`, or a path.
    ///
    /// - Returns: `nil` for a URL without a host, for one with a user, for another scheme, and for a path with `@` and
    ///   a colon.
    package init?(_ text: String) {
        if text == "-" {
            self = .standardOutput
        } else if Self.isURL(text) {
            // The URL is in the log and in answers, where a password has no place.
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false,
                url.user() == nil, url.password() == nil
            else { return nil }
            self = .url(url)
        } else if text.contains("@"), text.contains(":") {
            // A misspelled URL with a password would be printed as the name of a file.
            return nil
        } else {
            self = .file(text)
        }
    }

    /// Whether a text is meant as a URL, so that a misspelled one is not taken for a file.
    static func isURL(_ text: String) -> Bool { text.contains("://") }
}

/// A rate: a number per second, and a number at once after a pause.
public struct RateLimit: Sendable, Equatable {
    public var perSecond: Double
    public var burst: Double

    public init(perSecond: Double, burst: Double) {
        (self.perSecond, self.burst) = (perSecond, burst)
    }

    /// The number of seconds until there is a token, given the number of tokens now; `nil` if there is one.
    func wait(_ tokens: Double) -> Double? {
        tokens >= 1 ? nil : (1 - tokens) / perSecond
    }
}

/// How `verifyReceipt` answers for the receipts of an app.
public struct DropInSettings: Sendable, Equatable {
    public var app: String
    public var recording = Recording.off
    public var erased = ErasedAnswer.asOfSigning
    /// Whether a signed transaction of StoreKit 2 is answered like a receipt.
    public var acceptsSignedTransactions = true
    /// How long an answer waits for the App Store if signed news about a subscription are missing, in seconds; `nil` if
    /// it is not asked.
    public var askSeconds: Double?

    /// The defaults for an app.
    public init(app: String) { self.app = app }

    /// Which of the receipts that `verifyReceipt` gets are recorded.
    public enum Recording: String, Sendable, CaseIterable {
        case off
        /// Those that are malformed, not authentic or, by the settings, not accepted.
        case refused
        case all
    }

    /// The answer to a receipt whose customer was erased.
    public enum ErasedAnswer: String, Sendable, CaseIterable {
        /// What the receipt says.
        case asOfSigning = "as_of_signing"
        /// 21010: the account cannot be found or has been deleted.
        case accountNotFound = "account_not_found"
    }
}
