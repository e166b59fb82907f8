import { ActionIcon, NativeSelect, TextInput } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import type { OutputOf } from '../../api/operation-types.ts'
import { NumberField } from '../../components/money/number-field.tsx'
import { roleName } from '../../shell/role-name.ts'
import { limitRules, type RowText } from './limit-rows.ts'
import classes from './review-queue.module.css'

type Holders = OutputOf<'approval-limits.show'>['holders']

/** One approval limit in the form: for whom, of what, and how much. */
export function LimitRow({
  row,
  holders,
  isReadOnly,
  onChange,
  onRemove,
}: {
  row: RowText
  holders: Holders
  isReadOnly: boolean
  onChange: (next: Partial<RowText>) => void
  onRemove: () => void
}) {
  const isKey = row.holder.startsWith('api_key ')
  return (
    <fieldset className={classes.limitRow}>
      <legend className="visually-hidden">Approval limit</legend>
      <NativeSelect
        label="Who"
        value={row.holder}
        disabled={isReadOnly}
        data={choicesOf(holders, row.holder)}
        onChange={(event) => onChange({ holder: event.currentTarget.value })}
      />
      <TextInput
        label="Product"
        placeholder="every product"
        value={row.product}
        readOnly={isReadOnly}
        spellCheck={false}
        onChange={(event) => onChange({ product: event.currentTarget.value })}
      />
      <TextInput
        label="Currency"
        value={row.currency}
        readOnly={isReadOnly}
        maxLength={3}
        spellCheck={false}
        error={/^[A-Z]{3}$/.test(row.currency) ? undefined : 'Three letters.'}
        onChange={(event) => onChange({ currency: event.currentTarget.value.toUpperCase() })}
      />
      <NumberField
        label="Alone up to"
        rules={limitRules(row.currency)}
        whenEmpty="Write an amount; 0 lets nothing through alone."
        readOnly={isReadOnly}
        text={row.alone}
        onText={(alone) => onChange({ alone })}
      />
      {!isKey && (
        <NumberField
          label="Second up to"
          placeholder="any amount"
          rules={limitRules(row.currency)}
          readOnly={isReadOnly}
          text={row.second}
          onText={(second) => onChange({ second })}
        />
      )}
      <ActionIcon aria-label="Remove this limit" disabled={isReadOnly} onClick={onRemove}>
        <IconTrash size={16} stroke={1.75} />
      </ActionIcon>
    </fieldset>
  )
}

/** Whom a limit can be set for; one that is set for a person who left stays a choice. */
function choicesOf({ roles, operators, api_keys }: Holders, chosen: string) {
  const groups = [
    { group: 'Roles', items: roles.map((role) => ({ value: `role ${role}`, label: roleName(role) })) },
    { group: 'People', items: operators.map(({ id, name }) => ({ value: `operator ${id}`, label: name })) },
    { group: 'API keys', items: api_keys.map(({ id, name }) => ({ value: `api_key ${id}`, label: name })) },
  ]
  const isKnown = groups.some(({ items }) => items.some(({ value }) => value === chosen))
  const gone = isKnown ? [] : [{ group: 'Gone', items: [{ value: chosen, label: chosen }] }]
  return [...groups.filter(({ items }) => items.length > 0), ...gone]
}
