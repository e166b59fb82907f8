/** What the audit log does not protect against. docs/audit-log.md repeats this list, and a test keeps the two equal. */
export interface OutOfReach {
  /** What can be altered without `audit verify` noticing. */
  what: string
  why: string
  /** An alteration of this kind; `$1` is the organization. Absent where SQL is not the means. */
  sql?: string
}

/** Everything that is known to be out of reach of `audit verify`. */
export const OUT_OF_REACH: readonly OutOfReach[] = [
  {
    what: 'Transactions',
    why: 'the entry of a batch counts them and does not hash them; a decision keeps the facts that it was made on, and what a correction replaced is compared',
    sql: 'UPDATE transactions SET amount = amount * 2 WHERE org_id = $1',
  },
  {
    what: 'Statement balances, what is known of accounts, and where data comes from',
    why: 'the entry of a batch counts balances and accounts and does not hash them; identity links and feature snapshots are hashed with the id of their source',
    sql: `INSERT INTO bank_accounts (org_id, entity_id, account, masked, updated_at) SELECT org_id, id, 'x', '****', now() FROM entities WHERE org_id = $1`,
  },
  {
    what: 'Names, metadata and the running state of an entity',
    why: 'they change with every request, and names are personal data, which an entry cannot take back',
    sql: `UPDATE entities SET display_name = 'Forged', state = '{}' WHERE org_id = $1`,
  },
  {
    what: 'The trust graph: links between entities, track records, exposures',
    why: 'it is computed from identity links and outcomes, which are compared; a decision keeps the graph that it saw',
    sql: `DELETE FROM graph_track_records WHERE org_id = $1`,
  },
  {
    what: 'Which decision of an entity is its latest',
    why: 'it only says which one is evaluated again; everything else of the decisions is compared',
    sql: 'UPDATE decisions SET entity_version = 0 WHERE org_id = $1',
  },
  {
    what: 'The verdicts that re-evaluations announced',
    why: 'they only say what is announced again; entries name each announcement',
    // A re-evaluation may have announced one of them before.
    sql: `INSERT INTO turned_verdicts (org_id, decision_id, verdict, previous) SELECT org_id, id, 'decline', verdict FROM decisions WHERE org_id = $1
      ON CONFLICT (org_id, decision_id) DO UPDATE SET verdict = excluded.verdict, previous = excluded.previous`,
  },
  {
    what: 'Idempotency keys that were used, and answers that are kept for retries',
    why: 'answers are deleted after a day; the key of a decision only points to it, and the decision is compared',
    sql: 'DELETE FROM idempotency_keys WHERE org_id = $1',
  },
  {
    what: 'Events, webhook endpoints and deliveries',
    why: 'an event is an entry of the log or repeats one, and entries are compared; endpoints may change at any time',
    sql: `UPDATE events SET data = '{}' WHERE org_id = $1`,
  },
  {
    what: 'Usage counts',
    why: 'they are figures for invoices and charts, and no entry speaks of them',
    sql: 'UPDATE usage_by_day SET count = 0 WHERE org_id = $1',
  },
  {
    what: 'The review queue: which decisions wait, who works on a case, and when it is due',
    why: 'it is made of decisions and reviews, which are compared; entries say who took a case, to be read by a person',
    sql: `UPDATE cases SET assignee_id = 'opr_x', assigned_at = now() WHERE org_id = $1`,
  },
  {
    what: 'Scenarios of the playground',
    why: 'they are requests that decide nothing; entries say who added, changed and removed one',
    sql: `INSERT INTO playground_scenarios (org_id, id, name, request, saved_by, saved_at) VALUES ($1, 'scn_x', 'x', '{}', 'opr_x', now())`,
  },
  {
    what: 'Names of organizations and of accounts',
    why: 'they grant nothing, and are personal data or may be changed at any time',
  },
  {
    what: 'Counters: failed sign-ins and codes, the last step of a code, uses of passkeys and challenges, the last use of a session or key',
    why: 'they change with every attempt, and none stands in for the password, the code or the cookie; by SQL a person can guess more often, repeat a code or an answer within its minutes, or keep an idle session until its recorded end',
  },
  {
    what: 'A record that is deleted together with its entry before the entry is sealed',
    why: 'until then, usually at most five seconds, nothing outside the database knows of the entry',
  },
  {
    what: 'The end of a log, if no head of it is known outside the database',
    why: 'a node knows the heads that it signed, up to the last five seconds; keep checkpoints elsewhere for more',
  },
  {
    what: 'A signed head before the newest one',
    why: 'every later head covers the same leaves',
  },
  {
    what: 'A person or program that has the master key or can write to the data folder',
    why: 'the key signs; only checkpoints that others keep show that a log was signed again',
  },
  {
    what: 'False input',
    why: 'the log proves what the service was told and what it decided, not that it was told the truth',
  },
]
