import EvidenceMint
import HTTPTypes
import Hummingbird

/// The kind and content of the next fault.
struct FaultRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        router.get("/control/faults") { _, _ in
            try Response.json(await service.change { state, _ in FaultsAnswer(state) })
        }
        router.delete("/control/faults") { request, _ in
            try Response.json(
                await service.change { state, _ in
                    state.removeFaults()
                    return FaultsAnswer(state)
                })
        }
        router.post("/control/faults/answers") { request, _ in
            let fault = try await request.read(AnswerFault.self)
            try fault.check()
            return try Response.json(
                await service.change { state, _ in
                    state.answerFaults.append(fault)
                    return FaultsAnswer(state)
                }, status: .created)
        }
        router.post("/control/faults/server-api") { request, _ in
            let fault = try await request.read(ServerAPIFault.self)
            try fault.check()
            return try Response.json(
                await service.change { state, _ in
                    if fault.kind == .stale {
                        state.frozen = FrozenStore(store: state.store, notifications: state.notifications)
                    }
                    state.serverAPI.faults.append(fault)
                    return FaultsAnswer(state)
                }, status: .created)
        }
        router.post("/control/faults/evidence") { request, _ in
            let wanted = try await request.read(NewEvidenceFault.self)
            let fault = EvidenceFault(kind: wanted.kind, fault: wanted.fault, count: wanted.count ?? 1)
            try fault.check()
            return try Response.json(
                await service.change { state, _ in
                    state.evidenceFaults.append(fault)
                    return FaultsAnswer(state)
                }, status: .created)
        }
        router.post("/control/faults/certificates") { request, _ in
            let fault = try await request.read(CertificateFault.self)
            try fault.check()
            return try Response.json(
                await service.change { state, _ in
                    state.certificateFaults.append(fault)
                    return FaultsAnswer(state)
                }, status: .created)
        }
        router.post("/control/faults/notifications") { request, _ in
            let fault = try await request.read(NotificationFault.self)
            try fault.check()
            return try Response.json(
                await service.change { state, _ in
                    state.notificationSettings.faults.append(fault)
                    return FaultsAnswer(state)
                }, status: .created)
        }
        router.get("/control/fault-names") { _, _ in
            var names = Dictionary(
                uniqueKeysWithValues: EvidenceFault.Kind.allCases.map { ($0.rawValue, FaultName.all(of: $0)) })
            names["answer"] = AnswerFault.Kind.allCases.map {
                FaultName(name: $0.rawValue, explanation: $0.explanation)
            }
            names["server_api"] = ServerAPIFault.Kind.allCases.map {
                FaultName(name: $0.rawValue, explanation: $0.explanation)
            }
            names["certificate"] = CertificateFault.Kind.allCases.map {
                FaultName(name: $0.rawValue, explanation: $0.explanation)
            }
            names["delivery"] = NotificationFault.Kind.allCases.map {
                FaultName(name: $0.rawValue, explanation: $0.explanation)
            }
            return try Response.json(names)
        }
    }
}

private struct NewEvidenceFault: RequestBody {
    let kind: EvidenceFault.Kind
    let fault: String
    let count: Int?

    static let members: [BodyMember] = ["kind", "fault", "count"]
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

    static func all(of kind: EvidenceFault.Kind) -> [FaultName] {
        switch kind {
        case .appReceipt:
            StoreFault.allCases.map { FaultName(name: $0.rawValue, explanation: $0.explanation) }
                + ReceiptFault.allCases.map { FaultName(name: $0.rawValue, explanation: $0.explanation) }
        case .transactionReceipt:
            TransactionReceiptFault.allCases.map { FaultName(name: $0.rawValue, explanation: $0.explanation) }
        case .signedTransaction, .signedRenewalInfo, .appTransaction, .notification:
            SignedPayloadFault.allCases.map { FaultName(name: $0.rawValue, explanation: $0.explanation) }
        }
    }
}
