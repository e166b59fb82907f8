import { Button, Menu, Popover, TextInput, UnstyledButton } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import classes from './filter-chips.module.css'
import type { PageName, SearchOf } from './page-search.ts'
import { usePageSearch } from './use-search.ts'

/** A filter of a list: one of some values, or a text. Its value lives in the URL under `name`. */
export interface Filter<Name extends string = string> {
  /** The name in the URL. */
  name: Name
  /** The name on the chip: "State". */
  label: string
  /** The values to choose from; without them the filter is a text, such as an id. */
  options?: readonly { value: string; label: string }[]
  /** The type of the text field. */
  type?: 'text' | 'date'
  placeholder?: string
}

/** Chips that add, show and remove the filters of a list. */
export function FilterChips<Page extends PageName>({
  page,
  filters,
}: {
  page: Page
  filters: readonly Filter<keyof SearchOf<Page> & string>[]
}) {
  const [search, setSearch] = usePageSearch(page)
  return (
    <search className={classes.chips} aria-label="Filters">
      {filters.map((filter) => {
        const props = {
          filter,
          value: search[filter.name] as string | undefined,
          onChange: (value: string | undefined) => setSearch({ [filter.name]: value } as unknown as SearchOf<Page>),
        }
        return filter.options ? <OptionChip key={filter.name} {...props} /> : <TextChip key={filter.name} {...props} />
      })}
    </search>
  )
}

interface ChipProps {
  filter: Filter
  value: string | undefined
  onChange: (value: string | undefined) => void
}

function OptionChip({ filter, value, onChange }: ChipProps) {
  // A value of the URL that is no option filters too, so it must be seen and removable.
  const shown = filter.options!.find((option) => option.value === value)?.label ?? (value || undefined)
  return (
    <span className={classes.chip} data-set={shown ? true : undefined}>
      <Menu position="bottom-start">
        <Menu.Target>
          <UnstyledButton className={classes.target}>
            <ChipWords filter={filter} value={shown} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown aria-label={filter.label}>
          {filter.options!.map((option) => (
            <Menu.Item key={option.value} onClick={() => onChange(option.value)}>
              {option.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {shown && <RemoveButton filter={filter} onRemove={() => onChange(undefined)} />}
    </span>
  )
}

function TextChip({ filter, value, onChange }: ChipProps) {
  const [opened, setOpened] = useState(false)
  return (
    <span className={classes.chip} data-set={value ? true : undefined}>
      <Popover opened={opened} onChange={setOpened} position="bottom-start" shadow="md" trapFocus>
        <Popover.Target>
          <UnstyledButton className={classes.target} onClick={() => setOpened((current) => !current)}>
            <ChipWords filter={filter} value={value} />
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown>
          <form
            className={classes.form}
            onSubmit={(event) => {
              event.preventDefault()
              const text = new FormData(event.currentTarget).get('value')
              onChange(typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined)
              setOpened(false)
            }}
          >
            <TextInput
              name="value"
              label={filter.label}
              type={filter.type ?? 'text'}
              placeholder={filter.placeholder}
              defaultValue={value}
              data-autofocus
            />
            <Button type="submit">Apply</Button>
          </form>
        </Popover.Dropdown>
      </Popover>
      {value && <RemoveButton filter={filter} onRemove={() => onChange(undefined)} />}
    </span>
  )
}

function ChipWords({ filter, value }: { filter: Filter; value: string | undefined }) {
  if (value === undefined)
    return (
      <>
        <IconPlus size={14} stroke={1.75} /> {filter.label}
      </>
    )
  return (
    <>
      {filter.label} is <b className="truncate">{value}</b>
    </>
  )
}

function RemoveButton({ filter, onRemove }: { filter: Filter; onRemove: () => void }) {
  return (
    <UnstyledButton className={classes.remove} aria-label={`Remove the filter ${filter.label}`} onClick={onRemove}>
      <IconX size={13} />
    </UnstyledButton>
  )
}
