/// A certificate for tests of TLS, for hooks.example and 127.0.0.1, from 2020 to 2119. Its authority is not trusted.
enum ReceiverCertificate {
    /// The authority, in PEM.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBYjCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRBc3NheSB0
        ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
        HzEdMBsGA1UEAwwUQXNzYXkgdGVzdCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggq
        hkjOPQMBBwNCAAR3z/r8rFKY+2eNDTrTo+6Y6dorhKwbpcY1bYY0c3KGT+Kputv4
        30SgIBNXt/GHCBuhiQzMdjVXsUz3oGHasWxmozIwMDAPBgNVHRMBAf8EBTADAQH/
        MB0GA1UdDgQWBBSx6aGiDzK45E0PsjcEhnYtqp2+yTAKBggqhkjOPQQDAgNJADBG
        AiEAhv2E+xX+f7I9FR+RmeUe7Uf3vlWIyIgL7wiOO0zL4J0CIQCEJVJwPLLEZ2wJ
        9W3DI3uHgynq1jQi6BaecwTVCu+cAw==
        -----END CERTIFICATE-----
        """

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBXzCCAQWgAwIBAgIBAjAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRBc3NheSB0
        ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
        GDEWMBQGA1UEAwwNaG9va3MuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
        A0IABICnAoPq3u0sbxBl852yQtFB9t3fw4dMHnyMkTUUEutwgI/lBHQ+22eH78rQ
        jEJKvA7X3mg585OhzFT3ZvzdTcijNzA1MB4GA1UdEQQXMBWCDWhvb2tzLmV4YW1w
        bGWHBH8AAAEwEwYDVR0lBAwwCgYIKwYBBQUHAwEwCgYIKoZIzj0EAwIDSAAwRQIg
        YE0WVo2lRPoJQuXarJrtdb+CqdGRPq424D/FWgfobeMCIQCBlnD++kUXh0o08E5+
        YiLFeV90Ws1yzSnao+e8XU1dTQ==
        -----END CERTIFICATE-----
        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXc+4nSLtDsxJPD04
        Om26O6fNtcsmy8Af2kInPT5qN2GhRANCAASApwKD6t7tLG8QZfOdskLRQfbd38OH
        TB58jJE1FBLrcICP5QR0Pttnh+/K0IxCSrwO195oOfOTocxU92b83U3I
        -----END PRIVATE KEY-----
        """
}
