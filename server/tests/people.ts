/** Accounts, passkeys and changes of both as the service writes them, without the pages by which people make them. */
import { entriesForAccount, installationEntry, operatorEntry } from '../src/admin/entries.ts'
import type { Installation } from '../src/installation/installation.ts'
import { type Account, insertAccount, type NewAccount } from '../src/store/control/accounts.ts'
import { insertOperator, type NewOperatorRow, type Operator, updateOperator } from '../src/store/control/operators.ts'
import { insertPasskey, type Passkey } from '../src/store/control/passkeys.ts'
import type { ControlPowerTable } from '../src/store/power/control-database.ts'
import { sealRow } from '../src/store/power/row-mac.ts'

/** Adds an account. */
export async function addAccount(
  installation: Installation,
  { two_factor_since = null, ...account }: Omit<NewAccount, 'two_factor_since'> & { two_factor_since?: string | null },
): Promise<Account> {
  const { control } = installation.storage
  const data = { method: 'test' }
  const entry = installationEntry(installation, { type: 'account.created', subjectId: account.id, data })
  const row = control.seal('accounts', { ...account, two_factor_since }, entry)
  await control.recorded(async (transaction, record) => {
    if (!(await insertAccount(transaction, row))) throw new Error(`${account.email} is taken`)
    record(entry)
  })
  return row
}

/** Adds an operator without codes, with or without an account. */
export async function addOperatorRow(installation: Installation, operator: NewOperatorRow): Promise<Operator> {
  const { control } = installation.storage
  const by = {
    organizationId: operator.org_id,
    operatorId: operator.id,
    actor: { type: 'system', id: 'test' },
  } as const
  const { role, account_id } = operator
  const entry =
    account_id === null
      ? operatorEntry(installation, by, { type: 'operator.added', data: { role } })
      : operatorEntry(installation, by, { type: 'operator.joined', data: { role, account_id } })
  const row = control.seal('operators', operator, entry)
  await control.recorded(async (transaction, record) => {
    if (!(await insertOperator(transaction, row))) throw new Error(`${operator.email} is taken`)
    record(entry)
  })
  return row
}

/** Binds an operator to an account, as accepting an invitation does. */
export async function bindAccount(installation: Installation, operator: Operator, account_id: string): Promise<void> {
  const { control } = installation.storage
  const { org_id: organizationId, id: operatorId, role } = operator
  const by = { organizationId, operatorId, actor: { type: 'operator', id: operatorId } } as const
  const entry = operatorEntry(installation, by, { type: 'operator.joined', data: { role, account_id } })
  const bound = control.seal('operators', { ...operator, account_id }, entry)
  await control.recorded(async (transaction, record) => {
    if (!(await updateOperator(transaction, bound, { was: operator.entry_id }))) throw new Error('changed meanwhile')
    record(entry)
  })
}

/** Adds a passkey to an account. */
export async function addPasskeyRow(installation: Installation, passkey: Passkey): Promise<void> {
  const { control } = installation.storage
  const { id: subjectId, account_id } = passkey
  const entry = installationEntry(installation, { type: 'account.passkey_added', subjectId, data: { account_id } })
  const entriesOf = await entriesForAccount(installation, account_id)
  const added = control.seal('passkeys', await control.afterEndings('passkeys', passkey), entry)
  await control.recorded(async (transaction, record) => {
    await insertPasskey(transaction, added)
    record(entry, ...entriesOf('operator.passkey_added', { passkey_id: subjectId }))
  })
}

/** Changes a row and gives it the MAC of its new content, as only the service can. */
export async function rewriteRow(
  { storage: { control }, masterKey }: Installation,
  { table, id }: { table: ControlPowerTable; id: string },
  change: Record<string, unknown>,
): Promise<void> {
  const [row] = await control.query(`SELECT * FROM ${table} WHERE id = $1`, [id])
  const { mac } = sealRow(masterKey.rowMacKey('control'), table, {
    row: { ...row, ...change },
    entryId: String(row!.entry_id),
  })
  const changed = Object.entries({ ...change, mac })
  await control.query(
    `UPDATE ${table} SET ${changed.map(([column], index) => `${column} = $${index + 2}`).join(', ')} WHERE id = $1`,
    [id, ...changed.map(([, value]) => value)],
  )
}
