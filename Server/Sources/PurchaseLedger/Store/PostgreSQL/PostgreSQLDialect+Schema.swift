/// The query with which an audit compares a schema of PostgreSQL.
extension PostgreSQLDialect {
    /// The schema with the ledger's tables: the only one in the search path of a connection (`PostgreSQLHome`), and of
    /// the transaction that creates the expected one.
    static let home = "home AS (SELECT oid, nspname FROM pg_namespace WHERE nspname = current_schema())"

    /// A condition on objects that no extension owns. An operator may install extensions, such as amcheck.
    static func isOwn(_ catalog: String, _ object: String) -> String {
        """
        NOT EXISTS (SELECT 1 FROM pg_depend WHERE pg_depend.classid = '\(catalog)'::regclass
        AND pg_depend.objid = \(object) AND deptype = 'e')
        """
    }

    /// A condition on functions that no extension owns, and on those that the owner of an extension may have added to
    /// it: in a language other than C, which needs a superuser, with the name and the types of arguments that the
    /// ledger's SQL can have.
    static let isOwnFunction = """
        (\(isOwn("pg_proc", "pg_proc.oid")) OR (prolang NOT IN (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal'))
        AND proname IN (SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace)
        AND NOT EXISTS (SELECT 1 FROM unnest(proargtypes::oid[]) AS argument JOIN pg_type ON pg_type.oid = argument
        WHERE typnamespace <> 'pg_catalog'::regnamespace)))
        """

    /// The same condition on operators.
    static let isOwnOperator = """
        (\(isOwn("pg_operator", "pg_operator.oid")) OR (
        EXISTS (SELECT 1 FROM pg_proc JOIN pg_language ON pg_language.oid = prolang WHERE pg_proc.oid = oprcode
        AND (lanname NOT IN ('c', 'internal') OR pronamespace = 'pg_catalog'::regnamespace))
        AND NOT EXISTS (SELECT 1 FROM pg_type
        WHERE pg_type.oid IN (oprleft, oprright) AND typnamespace <> 'pg_catalog'::regnamespace)))
        """

    /// The definitions name the ledger's schema as `<home>`, so that two schemas can be compared, and an object of the
    /// ledger's schema differs from one of PostgreSQL with the same name. They include everything that decides which
    /// rows a statement reads and writes: types and collations with their schemas, policies, rules, defaults, the state
    /// of triggers and indexes, and the settings of functions. The kinds of objects that the ledger does not have are
    /// listed by name.
    var schemaQuery: String {
        """
        WITH \(Self.home), prefix AS (SELECT '(?<![[:alnum:]_$".])'
        || regexp_replace(quote_ident(nspname), '([^[:alnum:]_])', '\\\\\\1', 'g') || '\\.' AS pattern FROM home)
        SELECT kind, name, CASE WHEN kind = 'function' THEN definition
        ELSE regexp_replace(definition, (SELECT pattern FROM prefix), '<home>.', 'g') END FROM (
        \(Self.tables)
        UNION ALL \(Self.rulesOfTables)
        UNION ALL \(Self.unused)
        UNION ALL \(Self.dependencies)
        ) AS definitions ORDER BY kind, name
        """
    }

    private static let tables = """
        SELECT 'table' AS kind, relname::text AS name, concat_ws(' ', relkind, relpersistence, relrowsecurity,
        relforcerowsecurity, relispartition, string_agg(concat_ws(' ',
        attname, type_space.nspname || '.' || format_type(atttypid, atttypmod),
        'COLLATE ' || collation_space.nspname || '.' || collname || ' ' || collprovider::text, collisdeterministic,
        attnotnull, attidentity, attgenerated, 'DEFAULT ' || pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum))
        AS definition
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        JOIN pg_type ON pg_type.oid = atttypid JOIN pg_namespace AS type_space ON type_space.oid = typnamespace
        LEFT JOIN pg_collation ON pg_collation.oid = attcollation
        LEFT JOIN pg_namespace AS collation_space ON collation_space.oid = collnamespace
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relkind IN ('r', 'p', 'f') AND relnamespace = (SELECT oid FROM home) AND \(isOwn("pg_class", "pg_class.oid"))
        GROUP BY relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, relispartition
        UNION ALL SELECT 'constraint', coalesce(relname || '.', '') || conname,
        concat_ws(' ', pg_get_constraintdef(pg_constraint.oid), convalidated, (SELECT string_agg(DISTINCT tgenabled::text, '')
        FROM pg_trigger WHERE tgconstraint = pg_constraint.oid))
        FROM pg_constraint LEFT JOIN pg_class ON pg_class.oid = conrelid
        WHERE connamespace = (SELECT oid FROM home)
        AND \(isOwn("pg_class", "conrelid")) AND \(isOwn("pg_type", "contypid"))
        UNION ALL SELECT 'index', relname::text,
        concat_ws(' ', pg_get_indexdef(indexrelid), indisvalid, indisready, indislive)
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = (SELECT oid FROM home)
        AND \(isOwn("pg_class", "indrelid"))
        UNION ALL SELECT 'sequence', relname::text,
        concat_ws(' ', relpersistence, seqtypid, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle)
        FROM pg_class JOIN pg_sequence ON seqrelid = pg_class.oid WHERE relnamespace = (SELECT oid FROM home)
        AND \(isOwn("pg_class", "pg_class.oid"))
        UNION ALL SELECT 'view', relname::text, pg_get_viewdef(pg_class.oid) FROM pg_class
        WHERE relkind IN ('v', 'm') AND relnamespace = (SELECT oid FROM home)
        AND \(isOwn("pg_class", "pg_class.oid"))
        UNION ALL SELECT 'inheritance', space.nspname || '.' || child.relname || ' of ' || parent.relname, inhseqno::text
        FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid JOIN pg_class AS parent ON parent.oid = inhparent
        JOIN pg_namespace AS space ON space.oid = child.relnamespace
        WHERE child.relkind IN ('r', 'p', 'f') AND (SELECT oid FROM home) IN (child.relnamespace, parent.relnamespace)
        """

    private static let rulesOfTables = """
        SELECT 'trigger', relname || '.' || tgname, pg_get_triggerdef(pg_trigger.oid) || ' ' || tgenabled::text
        FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
        WHERE (NOT tgisinternal OR tgconstraint = 0) AND relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'function', proname || '(' || pg_get_function_identity_arguments(pg_proc.oid) || ')',
        concat_ws(' ', prokind, lanname, prosecdef, proisstrict, provolatile, proretset, prorettype::regtype,
        proconfig::text, probin, prosrc)
        FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
        WHERE pronamespace = (SELECT oid FROM home) AND \(isOwnFunction)
        UNION ALL SELECT 'policy', relname || '.' || polname, concat_ws(' ', polcmd, polpermissive, polroles::text,
        pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
        FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid WHERE relnamespace = (SELECT oid FROM home)
        UNION ALL SELECT 'rule', relname || '.' || rulename, pg_get_ruledef(pg_rewrite.oid) || ' ' || ev_enabled::text
        FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
        WHERE relkind NOT IN ('v', 'm') AND relnamespace = (SELECT oid FROM home)
        """

    /// Kinds of objects that the ledger does not have. A type of rows belongs to its table, and a type of arrays to its
    /// type.
    private static let unused = """
        SELECT 'operator', oprname::text, oprcode::oid::text FROM pg_operator
        WHERE oprnamespace = (SELECT oid FROM home) AND \(isOwnOperator)
        UNION ALL SELECT 'type', typname::text, '' FROM pg_type WHERE typnamespace = (SELECT oid FROM home)
        AND NOT EXISTS (SELECT 1 FROM pg_class WHERE pg_class.oid = typrelid AND relkind <> 'c')
        AND NOT EXISTS (SELECT 1 FROM pg_type AS element WHERE element.typarray = pg_type.oid)
        AND \(isOwn("pg_type", "pg_type.oid"))
        \(([
            ("collation", "pg_collation", "collname", "collnamespace"),
            ("conversion", "pg_conversion", "conname", "connamespace"),
            ("operator class", "pg_opclass", "opcname", "opcnamespace"),
            ("operator family", "pg_opfamily", "opfname", "opfnamespace"),
            ("text search configuration", "pg_ts_config", "cfgname", "cfgnamespace"),
            ("text search dictionary", "pg_ts_dict", "dictname", "dictnamespace"),
            ("text search parser", "pg_ts_parser", "prsname", "prsnamespace"),
            ("text search template", "pg_ts_template", "tmplname", "tmplnamespace"),
        ]).map { kind, catalog, name, space in
            """
            UNION ALL SELECT '\(kind)', \(name)::text, '' FROM \(catalog)
            WHERE \(space) = (SELECT oid FROM home) AND \(isOwn(catalog, "\(catalog).oid"))
            """
        }.joined(separator: "\n"))
        """

    /// What a table and its constraints, defaults, indexes, triggers and functions use outside the schema. Definitions
    /// do not show all of it: an operator that `IS DISTINCT FROM` uses is not printed. Dependencies on PostgreSQL's own
    /// objects, whose numbers are below 16384, are not recorded.
    private static let dependencies = """
        SELECT 'dependency', own.identity || ' uses ' || used.identity, '' FROM (
        SELECT 'pg_class'::regclass AS class, pg_class.oid AS number FROM pg_class
        WHERE relkind IN ('r', 'p', 'f', 'i', 'I', 'S') AND relnamespace = (SELECT oid FROM home)
        AND \(isOwn("pg_class", "pg_class.oid"))
        UNION ALL SELECT 'pg_proc'::regclass, pg_proc.oid FROM pg_proc
        WHERE pronamespace = (SELECT oid FROM home) AND \(isOwn("pg_proc", "pg_proc.oid"))
        \([
            ("pg_trigger", "tgrelid"), ("pg_constraint", "conrelid"), ("pg_attrdef", "adrelid"), ("pg_policy", "polrelid"),
            ("pg_rewrite", "ev_class"),
        ].map { catalog, table in
            """
            UNION ALL SELECT '\(catalog)'::regclass, \(catalog).oid FROM \(catalog) JOIN pg_class ON pg_class.oid = \(table)
            WHERE relkind IN ('r', 'p', 'f') AND relnamespace = (SELECT oid FROM home)
            AND \(isOwn("pg_class", "pg_class.oid"))
            """
        }.joined(separator: "\n"))
        ) AS objects JOIN pg_depend ON classid = class AND objid = number
        CROSS JOIN pg_identify_object(classid, objid, 0) AS own
        CROSS JOIN pg_identify_object(refclassid, refobjid, 0) AS used
        WHERE refobjid >= 16384 AND refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass,
        'pg_type'::regclass, 'pg_collation'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass,
        'pg_cast'::regclass) AND used.schema IS DISTINCT FROM (SELECT quote_ident(nspname) FROM home)
        """
}
