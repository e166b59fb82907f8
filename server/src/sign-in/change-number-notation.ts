import { entriesForAccount } from '../admin/entries.ts'
import type { NumberNotation } from '../core/vocabularies.ts'
import type { Installation } from '../installation/installation.ts'
import { numberNotationOf, updateNumberNotation } from '../store/control/account-preferences.ts'

/**
 * Changes the notation in which a person writes and reads numbers in the console; null is that of the browser. On the audit
 * log, because an amount that was typed is understood by it.
 */
export async function changeNumberNotation(
  installation: Installation,
  { accountId, notation }: { accountId: string; notation: NumberNotation | null },
): Promise<void> {
  const { control } = installation.storage
  const from = await numberNotationOf(control, accountId)
  if (from === notation) return
  const entriesOf = await entriesForAccount(installation, accountId)
  await control.recorded(async (transaction, record) => {
    await updateNumberNotation(transaction, { accountId, notation })
    record(...entriesOf('operator.number_notation_changed', { from, to: notation }))
  })
}
