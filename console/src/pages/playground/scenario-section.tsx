import { ActionIcon, Button, Menu, Modal, Select, TextInput } from '@mantine/core'
import { IconBookmark, IconChevronDown, IconDeviceFloppy, IconDots, IconPencil, IconTrash } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import type { ApiError } from '../../api/api-error.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct } from '../../api/use-operation.ts'
import type { Sendable } from '../../api/use-sending.ts'
import { DialogFooter } from '../../components/dialog-footer.tsx'
import { FormError } from '../../components/form-error.tsx'
import { FormFooter } from '../../components/form-footer.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { useDraft } from '../../drafts/use-draft.ts'
import classes from './playground.module.css'
import { type DryInput, isSameRequest, type Scenario } from './playground-request.ts'

/** Chooses one of the scenarios that the organization keeps. */
export function ScenarioMenu({
  scenarios,
  onChoose,
}: {
  scenarios: readonly Scenario[]
  onChoose: (scenario: Scenario) => void
}) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={15} stroke={1.75} />}
          rightSection={<IconChevronDown size={14} />}
          disabled={scenarios.length === 0}
        >
          Scenarios
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Scenarios" className={classes.choices}>
        <Menu.Label>Kept by your organization</Menu.Label>
        {scenarios.map((scenario) => (
          <Menu.Item key={scenario.id} onClick={() => onChoose(scenario)}>
            {scenario.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** What the section about scenarios needs. */
interface ScenarioSectionProps {
  scenarios: readonly Scenario[]
  /** The scenario that was chosen or saved last. */
  chosen: Scenario | undefined
  /** The scenario beside it. */
  compared: Scenario | undefined
  /** The request with its what-if as it stands; undefined while it names nothing to decide about. */
  input: DryInput | undefined
  onChosen: (id: string | undefined) => void
  onCompare: (id: string | undefined) => void
}

/** Keeps the request and its what-if under a name, and puts another scenario beside it. */
export function ScenarioSection(props: ScenarioSectionProps) {
  const { scenarios, chosen, compared, input, onCompare } = props
  const mayKeep = usePermission('keep scenarios')
  const others = scenarios.filter(({ id }) => id !== chosen?.id)
  if (!mayKeep && others.length === 0) return null
  return (
    <Section title="Scenario" end={mayKeep && chosen && <More {...props} />}>
      <div className={classes.form}>
        {chosen ? (
          <div>
            <p className="strong">{chosen.name}</p>
            <p className="small dim">
              Saved by {chosen.by}, <Time at={chosen.at} as="relative" />
              {input && !isSameRequest(input, chosen.request) && ', changed since'}
            </p>
          </div>
        ) : (
          <p className="small dim">A scenario is this request with its what-if, under a name, for your team.</p>
        )}
        {mayKeep && <SaveButtons {...props} />}
        {others.length > 0 && (
          <Select
            label="Compare with scenario"
            placeholder="None"
            data={others.map(({ id, name }) => ({ value: id, label: name }))}
            value={compared?.id ?? null}
            clearable
            clearButtonProps={{ 'aria-label': 'Compare with no scenario' }}
            onChange={(id) => onCompare(id ?? undefined)}
          />
        )}
      </div>
    </Section>
  )
}

function SaveButtons({ scenarios, chosen, input, onChosen }: ScenarioSectionProps) {
  const [isOpen, setIsOpen] = useState(false)
  const add = useAct('scenarios.add', {
    says: (_, { name }) => `The scenario ${name} is kept.`,
    onDone: ({ id }) => {
      setIsOpen(false)
      onChosen(id)
    },
    showsErrors: true,
  })
  const change = useAct('scenarios.change', {
    says: 'The scenario is replaced.',
    onDone: ({ id }) => {
      setIsOpen(false)
      onChosen(id)
    },
  })
  const isChanged = input !== undefined && chosen !== undefined && !isSameRequest(input, chosen.request)
  const save = (name: string, draft: Sendable) => {
    if (!input) return
    const taken = scenarios.find((scenario) => scenario.name === name)
    if (taken) change.mutate({ id: taken.id, request: input }, { draft })
    else add.mutate({ name, request: input }, { draft })
  }
  return (
    <div className={classes.buttons}>
      {chosen && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDeviceFloppy size={14} stroke={1.75} />}
          disabled={!isChanged}
          loading={change.isPending}
          onClick={() => isChanged && change.mutate({ id: chosen.id, request: input })}
        >
          Save changes
        </Button>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconBookmark size={14} stroke={1.75} />}
        disabled={!input}
        onClick={() => setIsOpen(true)}
      >
        {chosen ? 'Save as …' : 'Save as a scenario'}
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Save as a scenario" size={440}>
        <NameForm
          taken={scenarios}
          onTaken="replace"
          act="Save scenario"
          sending={change.isPending || change.error ? change : add}
          onClose={() => setIsOpen(false)}
          about="new scenario"
          onName={save}
        />
      </Modal>
    </div>
  )
}

/** Renames or removes the chosen scenario. */
function More({ scenarios, chosen, onChosen }: ScenarioSectionProps) {
  const [open, setOpen] = useState<'rename' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const rename = useAct('scenarios.change', { says: 'The scenario has a new name.', onDone: close, showsErrors: true })
  const remove = useAct('scenarios.remove', {
    says: 'The scenario is removed.',
    onDone: () => {
      close()
      onChosen(undefined)
    },
  })
  if (!chosen) return null
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" aria-label={`More about the scenario ${chosen.name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown aria-label="The scenario">
          <Menu.Item leftSection={<IconPencil size={15} stroke={1.75} />} onClick={() => setOpen('rename')}>
            Rename
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={15} stroke={1.75} />} onClick={() => setOpen('remove')}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={open === 'rename'} onClose={close} title="Rename the scenario" size={440}>
        <NameForm
          name={chosen.name}
          taken={scenarios.filter(({ id }) => id !== chosen.id)}
          onTaken="refuse"
          act="Rename"
          sending={rename}
          onClose={close}
          about={`rename ${chosen.id}`}
          onName={(name, draft) => rename.mutate({ id: chosen.id, name }, { draft })}
        />
      </Modal>
      <Modal opened={open === 'remove'} onClose={close} title={`Remove ${chosen.name}`} size={440}>
        <p className="secondary">
          Your whole team loses this scenario, and it cannot be brought back. The request on this page stays.
        </p>
        <DialogFooter>
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button data-danger loading={remove.isPending} onClick={() => remove.mutate({ id: chosen.id })}>
            Remove scenario
          </Button>
        </DialogFooter>
      </Modal>
    </>
  )
}

/** Asks for a name. One that another scenario has is refused, or the button says that it replaces that scenario. */
function NameForm({
  name: current = '',
  taken,
  onTaken,
  act,
  about,
  sending,
  onClose,
  onName,
}: {
  name?: string
  taken: readonly Scenario[]
  onTaken: 'replace' | 'refuse'
  act: string
  /** Under this name the browser keeps what was typed. */
  about: string
  sending: { isPending: boolean; error: ApiError | null }
  onClose: () => void
  onName: (name: string, draft: Sendable) => void
}) {
  const draft = useDraft(about, current)
  const text = draft.value
  const name = text.trim()
  const isTaken = taken.some((scenario) => scenario.name === name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onName(name, draft)
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        label="Name"
        required
        maxLength={80}
        readOnly={sending.isPending}
        value={text}
        onChange={(event) => draft.change(event.currentTarget.value)}
        description={isTaken && onTaken === 'replace' ? 'Replaces the scenario of this name.' : undefined}
        error={isTaken && onTaken === 'refuse' ? 'Another scenario has this name.' : undefined}
        data-autofocus
      />
      <FormError error={sending.error} />
      <FormFooter
        onClose={onClose}
        act={isTaken && onTaken === 'replace' ? 'Replace scenario' : act}
        sending={sending}
        isRetry={draft.isRetry}
        isReady={name !== '' && name !== current && !(isTaken && onTaken === 'refuse')}
      />
    </form>
  )
}
