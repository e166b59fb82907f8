import { Radio } from '@mantine/core'
import { useState } from 'react'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct } from '../../api/use-operation.ts'
import { NOTATIONS, type NumberNotation, notationOfLocale } from '../../components/money/number-notation.ts'
import { Section } from '../../components/section.tsx'
import { writeNumber } from '../../components/write-number.ts'
import classes from './account-page.module.css'

const BROWSER = 'browser'

/** How the console writes and reads numbers for this account. */
export function NumberSection({ account }: { account: OutputOf<'account.show'>['account'] }) {
  const [chosen, setChosen] = useState(account.number_notation)
  const change = useAccountAct('account.set-number-notation', { says: 'Numbers are written and read so from now on.' })
  const choose = (value: string) => {
    const notation = value === BROWSER ? null : (value as NumberNotation)
    setChosen(notation)
    change.mutate({ notation }, { onError: () => setChosen(account.number_notation) })
  }
  const ofBrowser = exampleOf(notationOfLocale(navigator.language))
  return (
    <Section title="Numbers">
      <Radio.Group
        label="How you write amounts"
        description="The console shows numbers so, and understands amounts that you type by it."
        value={chosen ?? BROWSER}
        onChange={choose}
      >
        <div className={classes.notations}>
          <Radio value={BROWSER} disabled={change.isPending} label={`As your browser does: ${ofBrowser}`} />
          {(Object.keys(NOTATIONS) as NumberNotation[]).map((notation) => (
            <Radio key={notation} value={notation} disabled={change.isPending} label={exampleOf(notation)} />
          ))}
        </div>
      </Radio.Group>
    </Section>
  )
}

function exampleOf(notation: NumberNotation): string {
  return writeNumber(1_234_567.5, { minimumFractionDigits: 2 }, notation)
}
