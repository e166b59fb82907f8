import { Button, TextInput } from '@mantine/core'
import type { OutputOf } from '../../api/operation-types.ts'
import { useAccountAct } from '../../api/use-operation.ts'
import { Section } from '../../components/section.tsx'
import { useAccountDraft } from '../../drafts/use-draft.ts'
import classes from './account-page.module.css'

/** The name and the e-mail of the account. */
export function ProfileSection({ account }: { account: OutputOf<'account.show'>['account'] }) {
  const draft = useAccountDraft('name', account.name)
  const name = draft.value
  const rename = useAccountAct('account.rename', { says: 'Your name is changed.' })
  return (
    <Section title="Profile">
      <form
        className={classes.fields}
        onSubmit={(event) => {
          event.preventDefault()
          rename.mutate({ name }, { draft })
        }}
      >
        <TextInput
          label="Your name"
          autoComplete="name"
          maxLength={255}
          required
          withAsterisk={false}
          readOnly={rename.isPending}
          value={name}
          onChange={(event) => draft.change(event.currentTarget.value)}
        />
        <TextInput
          label="E-mail"
          description="You sign in with it. It cannot be changed."
          value={account.email}
          readOnly
        />
        <div>
          <Button
            type="submit"
            variant="default"
            disabled={name.trim() === '' || name.trim() === account.name}
            loading={rename.isPending}
          >
            Save name
          </Button>
        </div>
      </form>
    </Section>
  )
}
