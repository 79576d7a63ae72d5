/// The result of an attack.
public struct AttackResult: Sendable {
    public let attack: Attack
    /// The expected answer, in a few words.
    public let expected: String
    /// The actual answer, in a few words.
    public let answered: String
    /// Whether the answer is the expected one.
    public let isRight: Bool
}
