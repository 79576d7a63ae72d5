public import EvidenceMint
public import Foundation

/// Makes all attacks on a running server and compares its answers with the expected ones.
///
/// The server must trust the authority's `trustedCertificatesPEM`. Genuine evidence is sent first; if the server
/// refuses it, the run ends, because refusals of forgeries would prove nothing.
public struct AttackRun: Sendable {
    private let client: AttackClient
    private let table: AttackTable
    private let address: String
    private let headers: [(String, String)]

    /// - Parameters:
    ///   - address: `http://HOST:PORT`.
    ///   - bundleID: the app that the server sells for.
    ///   - environmentNames: the environment names in the evidence.
    ///   - appAppleID: the number of the app in notifications.
    ///   - apiKey: goes to the purchase server as a bearer token.
    ///   - date: when the evidence was made.
    ///   - timeLimit: how long the answer to an attack may take. An attack without an answer by then counts as answered
    ///     wrongly.
    /// - Throws: `AttackError.notPlainHTTP`.
    public init(
        against address: String, authority: AppStoreAuthority, bundleID: String,
        environmentNames: EnvironmentNames = .apple, appAppleID: Int64 = 1_234_567_890, apiKey: String? = nil,
        date: Date = Date(),
        timeLimit: Duration = .seconds(60)
    ) throws(AttackError) {
        client = try AttackClient(address, timeLimit: timeLimit)
        self.address = address
        table = AttackTable(
            evidence: AttackEvidence(
                authority: authority, bundleID: bundleID, names: environmentNames, appAppleID: appAppleID, date: date))
        headers = apiKey.map { [("Authorization", "Bearer \($0)")] } ?? []
    }

    /// The result of the attacks on one target.
    public enum Outcome: Hashable, Sendable {
        /// All attacks were made; this number was answered wrongly.
        case attacked(wrong: Int)
        /// Nothing answers at the target, or the server does not know the app.
        case notThere
        /// The target requires a key, and none was given.
        case locked
    }

    /// Makes the attacks on one target.
    /// - Parameter report: is called with each result as it comes.
    /// - Returns: how it ended.
    /// - Throws: `AttackError`, and the errors of the crypto library.
    public func attack(_ target: Attack.Target, report: (AttackResult) -> Void) async throws -> Outcome {
        var wrong = 0
        for (evidence, attacks) in table.attacks(on: target) {
            for attack in attacks {
                let result: AttackResult
                do {
                    // Apple has no key.
                    let headers = target == .notifications ? [] : headers
                    let answer = try await client.post(target.rawValue, try attack.body(), headers: headers)
                    if target != .verifyReceipt, attack.expectation == .accepted, answer.status == 404 {
                        return .notThere
                    }
                    if answer.status == 401, headers.isEmpty { return .locked }
                    let read = AttackAnswer(answer, at: target)
                    result = AttackResult(
                        attack: attack, expected: attack.expectation.words, answered: read.words,
                        isRight: read.isRight(attack.expectation))
                } catch let error as MintError {
                    throw error
                } catch let failure as AttackClient.Failure {
                    result = AttackResult(
                        attack: attack, expected: attack.expectation.words, answered: failure.description,
                        isRight: false)
                } catch {
                    guard attack.expectation != .accepted else {
                        throw AttackError.unreachable(address, reason: NetworkFailure.words(error))
                    }
                    result = AttackResult(
                        attack: attack, expected: attack.expectation.words,
                        answered: "no answer: \(NetworkFailure.words(error))", isRight: false)
                }
                if attack.expectation == .accepted, !result.isRight, attack.name.hasSuffix("genuine") {
                    throw AttackError.genuineRefused(evidence: evidence, answer: result.answered)
                }
                report(result)
                if !result.isRight { wrong += 1 }
            }
        }
        return .attacked(wrong: wrong)
    }
}

public struct AttackResult: Sendable {
    public let attack: Attack
    /// The expected answer, in a few words.
    public let expected: String
    /// The actual answer, in a few words.
    public let answered: String
    /// Whether the answer is the expected one.
    public let isRight: Bool
}

/// The reasons why the attacks cannot be made.
public enum AttackError: Error, Hashable, Sendable {
    /// The address is not a plain `http://` address.
    case notPlainHTTP(String)
    /// Nothing answers at the address.
    case unreachable(String, reason: String)
    /// The server refuses genuine evidence, so its refusals of forgeries prove nothing.
    case genuineRefused(evidence: String, answer: String)
}

extension AttackError: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .notPlainHTTP(let text):
            "'\(text)' is not an address of the form http://HOST:PORT. The attacks use plain HTTP only; run them behind the "
                + "proxy that terminates TLS."
        case .unreachable(let address, let reason): "Nothing answers at \(address): \(reason)"
        case .genuineRefused(let evidence, let answer):
            "The server refuses a genuine \(evidence) (\(answer)), so its refusals of forgeries prove nothing. It must trust "
                + "the simulator's authority (--trust FOLDER/trust.pem) and accept the environments of the evidence. /v1/purchases is attacked with the consumable 'coins', which the settings must have."
        }
    }
}
