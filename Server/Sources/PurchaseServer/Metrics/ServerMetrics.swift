import Foundation
import Metrics
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// What a server counts while it works. `MetricRegistry` keeps it.
final class ServerMetrics: Sendable {
    private let registry: MetricRegistry
    private let build: ServerBuild
    private let requests: Instruments<RequestLabels, Timer>
    private let refusals: Instruments<String, Counter>
    private let verifications: Instruments<VerificationLabels, Counter>
    private let verificationTimes: Instruments<EvidenceKind?, Timer>
    private let claims: Instruments<ClaimLabels, Counter>
    private let sealingRounds: Instruments<String, Counter>
    private let webhookAttempts: Instruments<[String], Counter>
    private let appStoreCalls: Instruments<[String], Timer>
    private let notifications: Instruments<[String], Counter>
    private let certificateLoads: Instruments<String, Counter>
    private let notificationLag: Recorder
    private let active = Atomic(0)

    private struct RequestLabels: Hashable {
        let method: String
        let route: String
        let statusClass: Int
    }

    private struct VerificationLabels: Hashable {
        let kind: EvidenceKind?
        let error: ReasonCode?
    }

    private struct ClaimLabels: Hashable {
        let verdict: Verdict
        let code: String
    }

    init(build: ServerBuild = ServerBuild()) {
        let registry = MetricRegistry()
        self.registry = registry
        self.build = build
        @Sendable func counter(_ metric: ServerMetric, _ values: [String]) -> Counter {
            Counter(label: metric.rawValue, dimensions: metric.dimensions(values), factory: registry)
        }
        @Sendable func timer(_ metric: ServerMetric, _ values: [String]) -> Timer {
            Timer(label: metric.rawValue, dimensions: metric.dimensions(values), factory: registry)
        }
        requests = Instruments {
            timer(.requestDuration, [$0.method, $0.route, "\($0.statusClass)xx"])
        }
        refusals = Instruments { counter(.refusals, [$0]) }
        verifications = Instruments {
            counter(.verifications, [$0.kind?.rawValue ?? "unrecognized", $0.error?.rawValue ?? "verified"])
        }
        verificationTimes = Instruments { timer(.verificationDuration, [$0?.rawValue ?? "unrecognized"]) }
        claims = Instruments { counter(.claims, [$0.verdict.rawValue, $0.code]) }
        sealingRounds = Instruments { counter(.sealingRounds, [$0]) }
        webhookAttempts = Instruments { counter(.webhookAttempts, $0) }
        appStoreCalls = Instruments { timer(.appStoreCalls, $0) }
        notifications = Instruments { counter(.notifications, $0) }
        certificateLoads = Instruments { counter(.certificateLoads, [$0]) }
        notificationLag = Recorder(
            label: ServerMetric.notificationLag.rawValue, dimensions: [], aggregate: true, factory: registry)
    }

    /// All metrics in the text format of Prometheus.
    ///
    /// - Parameter read: the values that are read for it.
    func text(_ read: [MetricSample]) -> String {
        let own = [
            MetricSample(.activeRequests, Double(active.load(ordering: .relaxed))),
            MetricSample(.build, [build.version, build.commit], 1),
        ]
        return PrometheusText.text(registry.samples + own + ProcessReadings.samples + read)
    }

    func beginRequest() { active.add(1, ordering: .relaxed) }

    /// Notes an answer.
    ///
    /// - Parameters:
    ///   - method: one of a few names, none that the sender chose.
    ///   - route: the template of the route.
    ///   - code: the code of an answer that refuses something.
    func endRequest(_ method: String, route: String, status: Int, code: String?, _ duration: Duration) {
        active.subtract(1, ordering: .relaxed)
        requests[RequestLabels(method: method, route: route, statusClass: status / 100)]
            .recordNanoseconds(duration.nanoseconds)
        if let code { refusals[code].increment() }
    }

    func note(_ piece: VerifiedPiece) { noteVerification(piece.kind, piece.error?.code, piece.duration) }

    /// Notes a verification by its parts.
    func noteVerification(_ kind: EvidenceKind?, _ error: ReasonCode?, _ duration: Duration) {
        verifications[VerificationLabels(kind: kind, error: error)].increment()
        verificationTimes[kind].recordNanoseconds(duration.nanoseconds)
    }

    func noteClaim(_ verdict: Verdict, code: String) {
        claims[ClaimLabels(verdict: verdict, code: code)].increment()
    }

    /// Notes a round of sealing: done, refused or failed.
    func noteSealing(_ result: String) { sealingRounds[result].increment() }

    /// Notes an attempt to deliver to a webhook.
    func noteDelivery(app: String, host: String, _ stream: WebhookStream, result: String) {
        webhookAttempts[[app, host, stream.label, result]].increment()
    }

    /// Notes a call of the App Store: answered, or the code of its failure.
    func noteCall(_ operation: String, result: String, _ duration: Duration) {
        appStoreCalls[[operation, result]].recordNanoseconds(duration.nanoseconds)
    }

    /// Notes a genuine notification.
    ///
    /// - Parameters:
    ///   - type: Apple's name of its type.
    ///   - result: recorded, repeated or refused.
    ///   - lag: the seconds since Apple signed it, if it is new.
    func noteNotification(_ type: String?, result: String, lag: Double?) {
        let known = type.flatMap { Self.notificationTypes.contains($0) ? $0 : nil }
        notifications[[known ?? "other", result]].increment()
        if let lag { notificationLag.record(max(0, lag)) }
    }

    /// Notes a certificate that was read again: loaded or refused.
    func noteCertificate(_ result: String) { certificateLoads[result].increment() }

    /// The types that have a series of their own; Apple may add others.
    private static let notificationTypes = Set(
        [
            NotificationType.subscribed, .didChangeRenewalPreference, .didChangeRenewalStatus, .offerRedeemed,
            .didRenew, .expired, .didFailToRenew, .gracePeriodExpired, .priceIncrease, .refund, .refundDeclined,
            .refundReversed, .consumptionRequest, .renewalExtended, .renewalExtension, .revoke, .test,
            .externalPurchaseToken, .oneTimeCharge, .rescindConsent, .metadataUpdate, .migration, .migrate,
            .unclaimSeats, .priceChange,
        ].map(\.rawValue))
}

extension ServerMetric {
    /// The values of its labels, with their names.
    fileprivate func dimensions(_ values: [String]) -> [(String, String)] { Array(zip(definition.labels, values)) }
}

extension WebhookStream {
    /// The stream as a label.
    var label: String {
        switch self {
        case .events: "events"
        case .notifications(let environment): "notifications \(environment.name)"
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

/// The instruments of a metric, by what their labels are made of. To create one takes some microseconds, and to find
/// one takes a tenth of one.
final class Instruments<Labels: Hashable & Sendable, Instrument: AnyObject & Sendable>: Sendable {
    private let known = Mutex<[Labels: Instrument]>([:])
    private let make: @Sendable (Labels) -> Instrument

    init(_ make: @escaping @Sendable (Labels) -> Instrument) { self.make = make }

    subscript(labels: Labels) -> Instrument {
        known.withLock { known in
            if let instrument = known[labels] { return instrument }
            let instrument = make(labels)
            // Beyond the limit, all are one series.
            if known.count < MetricRegistry.limit { known[labels] = instrument }
            return instrument
        }
    }
}

/// The build of a server, for its metrics.
public struct ServerBuild: Sendable, Equatable {
    public var version: String
    public var commit: String

    /// A build by its version and commit.
    public init(version: String = "unknown", commit: String = "unknown") {
        (self.version, self.commit) = (version, commit)
    }
}

/// What the system says about this process.
enum ProcessReadings {
    static var samples: [MetricSample] {
        var samples = [
            MetricSample(.startTime, startedAt), MetricSample(.processorTime, processorSeconds),
        ]
        if let memory = residentBytes { samples.append(MetricSample(.residentMemory, memory)) }
        if let files = openFiles { samples.append(MetricSample(.openFiles, files)) }
        return samples
    }

    /// The time of the first reading, which the start of a server makes.
    private static let startedAt = Date().timeIntervalSince1970.rounded()

    /// Notes the start of the process.
    static func begin() { _ = startedAt }

    private static var processorSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `nil` where there is no /proc.
    private static var residentBytes: Double? {
        // The second field of statm is in pages (proc(5)).
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openFiles: Double? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count) }
    }
}
