/// The trace that calls belong to (W3C Trace Context). Set it around the work that calls the App Store:
///
///     try await OutgoingTrace.$parent.withValue(request.headers["traceparent"]) { … }
public enum OutgoingTrace {
    /// The value of the header `traceparent`; `nil` sends none. The caller has checked its form.
    @TaskLocal public static var parent: String?
}
