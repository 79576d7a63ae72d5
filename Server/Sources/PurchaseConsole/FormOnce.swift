import Crypto
import Foundation

/// Answers a form that is sent twice, as by a double click, with the answer to the first one, so that it acts once.
actor FormOnce {
    /// The most forms that are remembered: a double click follows within a second, and no person sends so many.
    private static let most = 200

    private var answers: [Data: Task<ConsoleResponse, Never>] = [:]
    /// The oldest first.
    private var order: [Data] = []

    /// Answers a form. An answer that refuses is not remembered.
    ///
    /// - Parameters:
    ///   - session: the hash of the session.
    ///   - request: the request, with the number that each page gives its forms.
    ///   - work: acts and answers.
    func answer(
        _ session: [UInt8], _ request: ConsoleRequest, _ work: @escaping @Sendable () async -> ConsoleResponse
    ) async -> ConsoleResponse {
        let form = Self.name(session, request)
        if let first = answers[form] { return await first.value }
        let first = Task { await work() }
        answers[form] = first
        order.append(form)
        if order.count > Self.most { answers[order.removeFirst()] = nil }
        let answer = await first.value
        if answer.status >= 400 {
            answers[form] = nil
            order.removeAll { $0 == form }
        }
        return answer
    }

    /// A hash of the session and of everything that was sent.
    private static func name(_ session: [UInt8], _ request: ConsoleRequest) -> Data {
        var hash = SHA256()
        hash.update(data: session)
        for text in [request.path] + request.form.sorted(by: { $0.key < $1.key }).flatMap({ [$0.key, $0.value] }) {
            hash.update(data: Data("\(text.utf8.count) \(text)".utf8))
        }
        return Data(hash.finalize())
    }
}
