import EvidenceMint
import HTTPTypes
import Hummingbird

/// The kind and content of the next fault.
struct FaultRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        routes.get("/control/faults") { state, _ in FaultsAnswer(state) }
        router.delete("/control/faults") { request, context in
            try await service.answer(request, context) { state, _ in
                state.removeFaults()
                return FaultsAnswer(state)
            }
        }
        add("answers", AnswerFault.self, to: routes, { try $0.check() }) { $0.answerFaults.append($1) }
        add("server-api", ServerAPIFault.self, to: routes, { try $0.check() }) { state, fault in
            if fault.kind == .stale {
                state.frozen = FrozenStore(store: state.store, notifications: state.notifications)
            }
            state.serverAPI.faults.append(fault)
        }
        add("evidence", NewEvidenceFault.self, to: routes, { try $0.made().check() }) {
            $0.evidenceFaults.append($1.made())
        }
        add("certificates", CertificateFault.self, to: routes, { try $0.check() }) { $0.certificateFaults.append($1) }
        add("notifications", NotificationFault.self, to: routes, { try $0.check() }) {
            $0.notificationSettings.faults.append($1)
        }
        router.get("/control/fault-names") { _, _ in
            var names = Dictionary(
                uniqueKeysWithValues: EvidenceFault.Kind.allCases.map { ($0.rawValue, FaultName.all(of: $0)) })
            names["answer"] = FaultName.all(AnswerFault.Kind.self, \.explanation)
            names["server_api"] = FaultName.all(ServerAPIFault.Kind.self, \.explanation)
            names["certificate"] = FaultName.all(CertificateFault.Kind.self, \.explanation)
            names["delivery"] = FaultName.all(NotificationFault.Kind.self, \.explanation)
            return try Response.json(names)
        }
    }

    /// Adds a fault of one list.
    private func add<Fault: RequestBody>(
        _ list: String, _ type: Fault.Type, to routes: StateRoutes, _ check: @escaping @Sendable (Fault) throws -> Void,
        _ add: @escaping @Sendable (inout ServiceState, Fault) -> Void
    ) {
        routes.post("/control/faults/\(list)", type, .created, check: check) { state, fault, _ in
            add(&state, fault)
            return FaultsAnswer(state)
        }
    }
}

private struct NewEvidenceFault: RequestBody {
    let kind: EvidenceFault.Kind
    let fault: String
    let count: Int?

    static let members: [BodyMember] = ["kind", "fault", "count"]

    func made() -> EvidenceFault { EvidenceFault(kind: kind, fault: fault, count: count ?? 1) }
}

private struct FaultsAnswer: Encodable {
    let answers: [AnswerFault]
    let evidence: [EvidenceFault]
    let certificates: [CertificateFault]
    let notifications: [NotificationFault]
    let serverApi: [ServerAPIFault]

    init(_ state: ServiceState) {
        answers = state.answerFaults
        evidence = state.evidenceFaults
        certificates = state.certificateFaults
        notifications = state.notificationSettings.faults
        serverApi = state.serverAPI.faults
    }
}

/// The name of a fault, and its explanation.
private struct FaultName: Encodable {
    let name: String
    let explanation: String

    static func all<Kind: CaseIterable & RawRepresentable<String>>(
        _: Kind.Type, _ explanation: (Kind) -> String
    ) -> [FaultName] {
        Kind.allCases.map { FaultName(name: $0.rawValue, explanation: explanation($0)) }
    }

    static func all(of kind: EvidenceFault.Kind) -> [FaultName] {
        switch kind {
        case .appReceipt: all(StoreFault.self, \.explanation) + all(ReceiptFault.self, \.explanation)
        case .transactionReceipt: all(TransactionReceiptFault.self, \.explanation)
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification:
            all(SignedPayloadFault.self, \.explanation)
        }
    }
}
