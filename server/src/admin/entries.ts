/** The entries of acts on rows that grant power, which `ControlDatabase.recorded` writes together with the rows. */
import type { AuditData, AuditOnlyType } from '../core/audit/audit-data.ts'
import type { AdminActor } from '../core/audit/audit-entry.ts'
import type { NewId } from '../ids/new-id.ts'
import type { Installation } from '../installation/installation.ts'
import { operatorsOfAccount } from '../store/control/operators.ts'
import type { EntryToRecord } from '../store/power/entry-queue.ts'
import { INSTALLATION_LOG } from '../store/power/power-tables.ts'
import { auditEntryRow, type NewAuditEntry } from '../store/write-path/record.ts'
import { recordContext } from './record-context.ts'

/** The actor of entries about accounts: a person acts for an organization as an operator, and for themselves as this. */
const ACCOUNTS = { type: 'system', id: 'accounts' } as const

type AccountEntryType = Extract<AuditOnlyType, `account.${string}` | `first_link.${string}`>
type OperatorEntryType = Extract<AuditOnlyType, `operator.${string}`>

/** An entry about operators or the live gate, which belong to no environment, for an organization's production log. */
export function productionEntry<T extends AuditOnlyType>(
  installation: Installation,
  { entryId, ...by }: { organizationId: string; actor: AdminActor; entryId?: string | undefined },
  entry: NewAuditEntry<T>,
): EntryToRecord {
  const context = recordContext(installation, by)
  const newId = entryId === undefined ? context.newId : ((() => entryId) as NewId)
  return { organizationId: by.organizationId, entry: auditEntryRow({ ...context, newId }, entry) }
}

/** Who acts on which operator; `entryId` is the id of the entry if it was made before its content was known. */
export interface OperatorEntryContext {
  organizationId: string
  operatorId: string
  actor: AdminActor
  entryId?: string
}

/** An entry about an operator, on the operator's own trail. */
export function operatorEntry<T extends OperatorEntryType>(
  installation: Installation,
  { operatorId, ...by }: OperatorEntryContext,
  { type, data }: { type: T; data: AuditData<T> },
): EntryToRecord {
  const subject = { type: 'operator', id: operatorId }
  return productionEntry(installation, by, { type, trailId: operatorId, subject, data })
}

/** An entry for the installation's log, about what belongs to no organization. */
export function installationEntry<T extends AccountEntryType>(
  installation: Installation,
  { type, subjectId, data }: { type: T; subjectId: string; data: AuditData<T> },
): EntryToRecord {
  const subject = { type: type.split('.')[0]!, id: subjectId }
  const by = { organizationId: INSTALLATION_LOG, actor: ACCOUNTS }
  return productionEntry(installation, by, { type, trailId: subjectId, subject, data })
}

/** Makes the entries about an account for the production log of every organization that it acts for. */
export type EntriesForAccount = <T extends OperatorEntryType>(type: T, data: AuditData<T>) => EntryToRecord[]

/** Reads for whom an account acts. Called before a transaction, in which the embedded database reads nothing else. */
export async function entriesForAccount(installation: Installation, accountId: string): Promise<EntriesForAccount> {
  const operators = await operatorsOfAccount(installation.storage.control, accountId)
  return (type, data) =>
    operators.map(({ org_id: organizationId, id }) =>
      operatorEntry(installation, { organizationId, operatorId: id, actor: { type: 'operator', id } }, { type, data }),
    )
}

/** The entry of one session of an account that ended: it does not work again. */
export function sessionEnded(installation: Installation, accountId: string, sessionId: string): EntryToRecord {
  return installationEntry(installation, {
    type: 'account.session_ended',
    subjectId: sessionId,
    data: { account_id: accountId },
  })
}

/** The entry that ends all sessions of an account, also those that are out of sight, except one that is kept. */
export function sessionsEnded(installation: Installation, accountId: string, keptId?: string): EntryToRecord {
  return installationEntry(installation, {
    type: 'account.sessions_ended',
    subjectId: accountId,
    data: { kept_session_id: keptId ?? null },
  })
}

/** The entries of an operator whose approval of the live gate no longer counts. */
export function approvalWithdrawn(
  installation: Installation,
  { organizationId, operatorId, actor }: OperatorEntryContext,
): EntryToRecord {
  return productionEntry(
    installation,
    { organizationId, actor },
    {
      type: 'live_gate.approval_withdrawn',
      trailId: organizationId,
      subject: { type: 'operator', id: operatorId },
      data: { operator_id: operatorId },
    },
  )
}
