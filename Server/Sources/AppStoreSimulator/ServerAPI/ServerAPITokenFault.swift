/// The reasons for 401, by their names in the header `Assay-Reason`. Apple's body is the same for all.
enum ServerAPITokenFault: String, Error, Sendable, CaseIterable {
    /// No header `Authorization`, or one of another scheme than `Bearer`.
    case missing = "token_missing"
    /// No JWT of three parts with JSON.
    case malformed = "token_malformed"
    /// `alg` is not ES256.
    case wrongAlgorithm = "token_wrong_algorithm"
    /// `typ` is not JWT.
    case wrongType = "token_wrong_type"
    /// The store has no key `kid`, or it was deleted.
    case unknownKey = "token_unknown_key"
    /// The signature is not by that key.
    case wrongSignature = "token_wrong_signature"
    /// `iss` is not the issuer of the key.
    case wrongIssuer = "token_wrong_issuer"
    /// `aud` is not `appstoreconnect-v1`.
    case wrongAudience = "token_wrong_audience"
    /// `bid` is missing, no app, or not the app of the key.
    case wrongBundleID = "token_wrong_bundle_id"
    /// `exp` is missing or no time.
    case missingExpiry = "token_missing_expiry"
    /// `exp` is past.
    case expired = "token_expired"
    /// `exp` is more than 60 minutes after `iat`, or after now.
    case lastsTooLong = "token_lasts_too_long"
    /// `iat` is in the future.
    case fromTheFuture = "token_from_the_future"
    /// The app was never released; only the sandbox knows it.
    case unreleasedApp = "app_not_released"
    /// A requested fault.
    case requested = "requested_fault"
}
