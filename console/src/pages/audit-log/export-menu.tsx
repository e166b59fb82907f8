import { Button, Menu } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { call } from '../../api/call.ts'
import type { InputOf } from '../../api/operation-types.ts'
import { usePermission } from '../../api/use-me.ts'
import { usePlace } from '../../api/use-place.ts'
import type { AuditEntry } from '../../components/audit-entry.ts'
import { csvOf, download } from '../../components/download.ts'
import { useExport } from '../../components/use-export.ts'

type Filter = Omit<InputOf<'audit-log.list'>, 'cursor' | 'limit'>

/** Saves the entries that the filter shows, as JSON lines or CSV. */
export function ExportMenu({ filter }: { filter: Filter }) {
  const place = usePlace()
  const mayExport = usePermission('export data')
  const { run, progress } = useExport<AuditEntry>({
    words: { one: 'entry', many: 'entries' },
    readPage: async (position) => {
      const { entries, next_cursor } = await call(place, 'audit-log.export', { ...filter, ...position })
      return { rows: entries, next: next_cursor }
    },
  })
  const saveAs = (format: 'jsonl' | 'csv') =>
    void run((entries) =>
      save(entries, format, `audit-log-${place.environment}-${new Date().toISOString().slice(0, 10)}`),
    )
  if (!mayExport) return null
  return (
    <Menu>
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<IconDownload size={15} stroke={1.75} />}
          disabled={progress !== undefined}
          aria-live="polite"
        >
          {progress ?? 'Export'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label="Export">
        <Menu.Item onClick={() => saveAs('jsonl')}>JSON lines</Menu.Item>
        <Menu.Item onClick={() => saveAs('csv')}>CSV</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function save(entries: readonly AuditEntry[], format: 'jsonl' | 'csv', name: string): void {
  if (format === 'jsonl') {
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    download(`${name}.jsonl`, lines, 'application/x-ndjson')
    return
  }
  const head = [
    ...['id', 'occurred_at', 'type', 'actor_type', 'actor_id', 'actor_name', 'subject_type', 'subject_id', 'trail_id'],
    ...['request_id', 'leaf_index', 'leaf_hash', 'data'],
  ]
  const rows = entries.map((entry) => [
    ...[entry.id, entry.occurred_at, entry.type, entry.actor.type, entry.actor.id, entry.actor.name],
    ...[entry.subject.type, entry.subject.id, entry.trail_id, entry.request_id],
    ...[entry.leaf_index, entry.leaf_hash, JSON.stringify(entry.data)],
  ])
  download(`${name}.csv`, csvOf(head, rows), 'text/csv')
}
