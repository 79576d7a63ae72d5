/// The queries with which an audit compares a schema of PostgreSQL.
extension PostgreSQLDialect {
    /// The schema with the ledger's tables. It need not be the first one of the search path: another one can shadow some tables.
    static let home = """
        home AS (SELECT pg_namespace.oid, nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE pg_class.oid = to_regclass('schema_migrations'))
        """

    /// A condition on objects that no extension owns. An operator may install extensions, such as amcheck.
    private static func isOwn(_ catalog: String, _ object: String) -> String {
        """
        NOT EXISTS (SELECT 1 FROM pg_depend WHERE pg_depend.classid = '\(catalog)'::regclass
        AND pg_depend.objid = \(object) AND deptype = 'e')
        """
    }

    /// The definitions omit the name of the schema, so that two schemas can be compared. They include everything that decides
    /// which rows a statement reads and writes: policies, rules, defaults, the state of triggers and indexes, and the settings of
    /// functions.
    var schemaQuery: String {
        """
        WITH \(Self.home)
        SELECT kind, name, CASE WHEN kind = 'function' THEN definition
        ELSE replace(definition, (SELECT quote_ident(nspname) FROM home) || '.', '') END FROM (
        SELECT 'table' AS kind, relname::text AS name, concat_ws(' ', relkind, relpersistence, relrowsecurity,
        relforcerowsecurity, relispartition, string_agg(
        attname || ' ' || format_type(atttypid, atttypmod) || coalesce(' COLLATE ' || collname, '')
        || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END || attidentity::text || attgenerated::text
        || coalesce(' DEFAULT ' || pg_get_expr(adbin, adrelid), ''), ', ' ORDER BY attnum)) AS definition
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        LEFT JOIN pg_collation ON pg_collation.oid = attcollation
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relkind IN ('r', 'p', 'f') AND relnamespace = (SELECT oid FROM home) AND \(Self.isOwn("pg_class", "pg_class.oid"))
        GROUP BY relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, relispartition
        UNION ALL SELECT 'constraint', coalesce(relname || '.', '') || conname, pg_get_constraintdef(pg_constraint.oid)
        FROM pg_constraint LEFT JOIN pg_class ON pg_class.oid = conrelid
        WHERE connamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'index', relname::text,
        concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid, indisready, indislive)
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'trigger', relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid) || ' ' || tgenabled::text
        FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
        WHERE (NOT tgisinternal OR tgconstraint = 0) AND relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'function', proname || '(' || pg_get_function_identity_arguments(pg_proc.oid) || ')',
        concat_ws(' ', prokind, lanname, prosecdef, proisstrict, provolatile, proretset, format_type(prorettype, NULL),
        proconfig::text, probin, prosrc)
        FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
        WHERE pronamespace = (SELECT oid FROM home) AND \(Self.isOwn("pg_proc", "pg_proc.oid"))
        UNION ALL SELECT 'view', relname::text, pg_get_viewdef(pg_class.oid) FROM pg_class
        WHERE relkind IN ('v', 'm') AND relnamespace = (SELECT oid FROM home)
        AND \(Self.isOwn("pg_class", "pg_class.oid"))
        UNION ALL SELECT 'policy', relname || '.' || polname, concat_ws(' ', polcmd, polpermissive, polroles::text,
        pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
        FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid WHERE relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'rule', relname || '.' || rulename, pg_get_ruledef(pg_rewrite.oid) || ' ' || ev_enabled::text
        FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
        WHERE relkind NOT IN ('v', 'm') AND relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'operator', oprname::text, oprcode::oid::text FROM pg_operator
        WHERE oprnamespace = (SELECT oid FROM home) AND \(Self.isOwn("pg_operator", "pg_operator.oid"))
        UNION ALL SELECT 'inheritance', space.nspname || '.' || child.relname || ' of ' || parent.relname, inhseqno::text
        FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
        JOIN pg_namespace AS space ON space.oid = child.relnamespace
        WHERE child.relkind IN ('r', 'p', 'f') AND (SELECT oid FROM home) IN (child.relnamespace, parent.relnamespace)
        ) AS definitions ORDER BY kind, name
        """
    }

    /// Settings of a role that limit its time or change what it logs; they cannot change what a statement reads.
    private static let harmlessSettings = """
        '^((statement|lock|idle_session|idle_in_transaction_session)_timeout|work_mem|maintenance_work_mem|tcp_[a-z_]+|log_[a-z_]+\
        |application_name|client_min_messages|TimeZone)='
        """

    /// Objects outside the ledger's schema that change what its tables show: event triggers, settings of roles, and whatever
    /// shadows a table or a function of PostgreSQL in the search path.
    var surroundingsQuery: String? {
        """
        WITH \(Self.home), path AS (SELECT pg_namespace.oid, nspname, place
        FROM unnest(current_schemas(true)) WITH ORDINALITY AS schemas (name, place)
        JOIN pg_namespace ON nspname = schemas.name)
        SELECT kind, name FROM (
        SELECT 'event trigger' AS kind, evtname::text AS name FROM pg_event_trigger
        WHERE \(Self.isOwn("pg_event_trigger", "pg_event_trigger.oid"))
        UNION ALL SELECT 'role setting', coalesce(rolname, 'all roles') || ' ' || setting
        FROM pg_db_role_setting LEFT JOIN pg_roles ON pg_roles.oid = setrole CROSS JOIN unnest(setconfig) AS setting
        WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
        AND (setrole = 0 OR rolname = current_user
        OR (NOT rolsuper AND has_table_privilege(setrole, to_regclass('journal'), 'INSERT')))
        AND setting !~ \(Self.harmlessSettings)
        UNION ALL SELECT 'table', path.nspname || '.' || relname || ' in the search path'
        FROM pg_class JOIN path ON path.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'f', 'v', 'm') AND path.oid <> (SELECT oid FROM home) AND relname IN (
        SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM home))
        UNION ALL SELECT DISTINCT 'function', path.nspname || '.' || proname || ' in the search path'
        FROM pg_proc JOIN path ON path.oid = pronamespace
        WHERE path.oid <> (SELECT oid FROM home) AND nspname <> 'pg_catalog' AND \(Self.isOwn("pg_proc", "pg_proc.oid"))
        AND proname IN (SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace)
        UNION ALL SELECT DISTINCT 'operator', path.nspname || '.' || oprname || ' in the search path'
        FROM pg_operator JOIN path ON path.oid = oprnamespace
        WHERE path.oid <> (SELECT oid FROM home) AND nspname <> 'pg_catalog'
        AND \(Self.isOwn("pg_operator", "pg_operator.oid"))
        AND oprname IN (SELECT oprname FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace)
        UNION ALL SELECT 'search path', 'pg_catalog is not searched first' FROM path
        WHERE nspname = 'pg_catalog' AND place > (SELECT min(place) FROM path WHERE path.oid = (SELECT oid FROM home))
        ) AS surroundings ORDER BY kind, name
        """
    }

    /// PostgreSQL then returns an error for a query that a policy would filter.
    var auditSettings: [String] { ["SET LOCAL row_security = off"] }
}
