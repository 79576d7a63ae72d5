/// A question to the realtime URL of an app, before it is sent.
struct RetentionRequest: Sendable {
    let url: String
    let signedPayload: String
}
