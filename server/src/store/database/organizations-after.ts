/**
 * SQL: the part `organizations` of a `WITH RECURSIVE`, those after `after` that have rows in a table whose primary key begins
 * with the organization. It costs an index probe for each, however many rows they have.
 */
export function organizationsAfter(after: string, table: string): string {
  return `organizations (org_id) AS (
    (SELECT org_id FROM ${table} WHERE org_id > ${after} ORDER BY org_id LIMIT 1)
    UNION ALL
    SELECT (SELECT next.org_id FROM ${table} AS next WHERE next.org_id > organizations.org_id ORDER BY next.org_id LIMIT 1)
    FROM organizations WHERE organizations.org_id IS NOT NULL
  )`
}
