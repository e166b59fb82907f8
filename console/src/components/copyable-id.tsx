import { Tooltip, UnstyledButton } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import classes from './copyable-id.module.css'

/** An id in monospace with a button that copies it. A long id is shown by its ends; the copy is complete. */
export function CopyableId({ id, short = false }: { id: string; short?: boolean }) {
  const clipboard = useClipboard({ timeout: 1_500 })
  return (
    <span className={classes.id} data-short={short || undefined}>
      <code title={short ? id : undefined}>{short ? shorten(id) : id}</code>
      <Tooltip label={clipboard.copied ? 'Copied' : 'Copy'}>
        <UnstyledButton
          className={classes.button}
          aria-label={`Copy ${id}`}
          onClick={(event) => {
            event.preventDefault()
            event.stopPropagation()
            clipboard.copy(id)
          }}
        >
          {clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
        </UnstyledButton>
      </Tooltip>
      <span className="visually-hidden" role="status">
        {clipboard.copied ? 'Copied' : ''}
      </span>
    </span>
  )
}

/** Shortens an id to its prefix, its first characters and its last four: `whe_01m7gq0t3fe2y…8k1z`. */
export function shorten(id: string): string {
  return id.length > 22 ? `${id.slice(0, 14)}…${id.slice(-4)}` : id
}
