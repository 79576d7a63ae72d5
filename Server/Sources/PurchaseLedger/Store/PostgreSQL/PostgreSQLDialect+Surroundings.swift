/// The query for objects outside the ledger's schema that can change what its tables show.
extension PostgreSQLDialect {
    /// Settings of a role that limit its time or memory, or change what it logs; they cannot change what a statement
    /// reads.
    private static let harmlessSettings = """
        '^((statement|lock|transaction|idle_session|idle_in_transaction_session|deadlock)_timeout|work_mem\
        |maintenance_work_mem|hash_mem_multiplier|temp_buffers|temp_file_limit|tcp_[a-z_]+|log_[a-z_]+|application_name\
        |client_min_messages|TimeZone)='
        """

    /// Settings that change the meaning of statements, and that `postgresql.conf` or `ALTER SYSTEM` can change.
    private static let settings = """
        'row_security', 'session_replication_role', 'transform_null_equals', 'standard_conforming_strings', 'array_nulls',
        'ignore_system_indexes', 'allow_system_table_mods', 'zero_damaged_pages'
        """

    /// The schemas that a search path can name, other than the ledger's and PostgreSQL's own.
    private static let others = """
        others AS (SELECT oid, nspname FROM pg_namespace WHERE nspname NOT IN ('pg_catalog', 'information_schema')
        AND nspname !~ '^pg_(toast|temp_|toast_temp_)' AND oid <> (SELECT oid FROM home))
        """

    /// Whether any role that can use the ledger as a server does can have the setting: a role with a right on the
    /// journal, and a member of one, which includes every superuser.
    private static let isOfServer = """
        (setrole = 0 OR EXISTS (SELECT 1 FROM pg_roles AS used CROSS JOIN pg_class
        WHERE relname = 'journal' AND relnamespace = (SELECT oid FROM home) AND pg_has_role(setrole, used.oid, 'MEMBER')
        AND has_table_privilege(used.oid, pg_class.oid, 'SELECT, INSERT')))
        """

    /// A search path of the ledger's schema alone is the one that every connection has.
    private static let isOwnPath = """
        setting IN (SELECT 'search_path=' || path FROM home, unnest(ARRAY[quote_ident(nspname),
        'pg_catalog, ' || quote_ident(nspname), quote_ident(nspname) || ', pg_temp',
        'pg_catalog, ' || quote_ident(nspname) || ', pg_temp']) AS path)
        """

    /// Objects outside the ledger's schema that change what its tables show: event triggers, settings of roles, casts,
    /// and whatever has the name of a table of the ledger, or of a function or an operator of PostgreSQL, in a schema
    /// that some search path can name. It does not depend on the role that reads it.
    var surroundingsQuery: String? {
        """
        WITH \(Self.home), \(Self.others)
        SELECT kind, name FROM (
        SELECT 'event trigger' AS kind, evtname::text AS name FROM pg_event_trigger
        WHERE \(Self.isOwn("pg_event_trigger", "pg_event_trigger.oid"))
        UNION ALL SELECT 'role setting', coalesce(rolname, 'all roles') || ' ' || setting
        FROM pg_db_role_setting LEFT JOIN pg_roles ON pg_roles.oid = setrole CROSS JOIN unnest(setconfig) AS setting
        WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
        AND \(Self.isOfServer) AND setting !~ \(Self.harmlessSettings) AND NOT \(Self.isOwnPath)
        UNION ALL SELECT 'server setting', pg_settings.name || '=' || reset_val FROM pg_settings
        WHERE pg_settings.name IN (\(Self.settings)) AND reset_val <> boot_val
        UNION ALL SELECT 'cast', format_type(castsource, NULL) || ' AS ' || format_type(casttarget, NULL)
        FROM pg_cast JOIN pg_type AS source ON source.oid = castsource JOIN pg_type AS target ON target.oid = casttarget
        WHERE pg_cast.oid >= 16384 AND source.typnamespace IN ('pg_catalog'::regnamespace, (SELECT oid FROM home))
        AND target.typnamespace IN ('pg_catalog'::regnamespace, (SELECT oid FROM home))
        AND ((source.oid < 16384 AND target.oid < 16384) OR \(Self.isOwn("pg_cast", "pg_cast.oid")))
        UNION ALL SELECT 'subscription', subname || ' of ' || relname
        FROM pg_subscription JOIN pg_subscription_rel ON srsubid = pg_subscription.oid
        JOIN pg_class ON pg_class.oid = srrelid WHERE relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'table', nspname || '.' || relname || ' has the name of one of the ledger''s'
        FROM pg_class JOIN others ON others.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'f', 'v', 'm', 'S') AND relname IN (SELECT relname FROM pg_class
        WHERE relkind IN ('r', 'p', 'S') AND relnamespace = (SELECT oid FROM home)
        AND \(Self.isOwn("pg_class", "pg_class.oid")))
        UNION ALL SELECT DISTINCT 'function', nspname || '.' || proname || ' has the name of one of PostgreSQL''s'
        FROM pg_proc JOIN others ON others.oid = pronamespace
        WHERE \(Self.isOwnFunction)
        AND proname IN (SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace)
        UNION ALL SELECT DISTINCT 'operator', nspname || '.' || oprname || ' has the name of one of PostgreSQL''s'
        FROM pg_operator JOIN others ON others.oid = oprnamespace
        WHERE \(Self.isOwnOperator)
        AND oprname IN (SELECT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace)
        UNION ALL SELECT 'function', pg_proc.oid::regprocedure::text || ' in pg_catalog' FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace AND pg_proc.oid >= 16384 AND \(Self.isOwnFunction)
        UNION ALL SELECT 'operator', pg_operator.oid::regoperator::text || ' in pg_catalog' FROM pg_operator
        WHERE oprnamespace = 'pg_catalog'::regnamespace AND pg_operator.oid >= 16384 AND \(Self.isOwnOperator)
        UNION ALL SELECT 'collation', collname || ' in pg_catalog' FROM pg_collation
        WHERE collnamespace = 'pg_catalog'::regnamespace AND pg_collation.oid >= 16384 AND collname = 'C'
        ) AS surroundings ORDER BY kind, name
        """
    }

    /// PostgreSQL then returns an error for a query that a policy would filter.
    var auditSettings: [String] { ["SET LOCAL row_security = off"] }
}
