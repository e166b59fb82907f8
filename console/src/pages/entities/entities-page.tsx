import { Button, SegmentedControl, Select, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { IDENTIFIER_TYPES, type IdentifierType } from '../../../../server/src/core/vocabularies.ts'
import { usePermission } from '../../api/use-me.ts'
import { useAct, usePages } from '../../api/use-operation.ts'
import { CopyableId } from '../../components/copyable-id.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { usePageSearch } from '../../components/use-search.ts'
import { Verdict } from '../../components/verdict.tsx'
import { writeFixed } from '../../components/write-number.ts'
import classes from './entities.module.css'
import type { ListedEntity } from './entity.ts'

const COLUMNS: readonly Column<ListedEntity>[] = [
  {
    id: 'name',
    header: 'Name',
    onPhone: 'top',
    cell: ({ name, external_id }) => (
      <>
        <span className="strong">{name}</span>
        <span className={classes.below}>{external_id}</span>
      </>
    ),
  },
  {
    id: 'type',
    header: 'Type',
    onPhone: 'bottom',
    cell: ({ type, country }) => [type, country].filter(Boolean).join(' · ') || '–',
  },
  { id: 'trust', header: 'Trust', end: true, cell: ({ trust }) => <ListedTrust trust={trust} /> },
  {
    id: 'verdict',
    header: 'Latest decision',
    cell: ({ latest_verdict }) =>
      latest_verdict ? <Verdict verdict={latest_verdict} /> : <span className="dim">none</span>,
    onPhone: 'top end',
  },
  { id: 'id', header: 'Id', cell: ({ id }) => <CopyableId id={id} short />, hideOnPhone: true },
  {
    id: 'since',
    header: 'Since',
    end: true,
    cell: ({ created_at }) => <Time at={created_at} as="date" />,
    onPhone: 'bottom end',
  },
]

function ListedTrust({ trust }: Pick<ListedEntity, 'trust'>) {
  if (trust === 'altered') return <span className="text-decline">altered</span>
  return trust === null ? '–' : writeFixed(trust, 2)
}

/** The page "Entities": finds an entity by id, external id, name or identifier, and lists the newest ones. */
export function EntitiesPage() {
  const [by, setBy] = useState('text')
  const [seesNames, seesIdentifiers] = [usePermission('see names'), usePermission('see identifiers')]
  return (
    <>
      <PageHeader title="Entities" below="People, businesses and institutions, with their trust and their links" />
      <div className={classes.searchBar}>
        <SegmentedControl
          aria-label="Search by"
          value={by}
          onChange={setBy}
          data={[
            { value: 'text', label: seesNames ? 'Id or name' : 'Id' },
            ...(seesIdentifiers ? [{ value: 'identifier', label: 'Identifier' }] : []),
          ]}
        />
      </div>
      {by === 'text' ? <SearchByText /> : <SearchByIdentifier />}
    </>
  )
}

function SearchByText() {
  const [search, setSearch] = usePageSearch('entities')
  const query = usePages('entities.list', search.search ? { search: search.search } : {})
  const pages = query.data?.pages ?? []
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = new FormData(event.currentTarget).get('search')
    setSearch({ search: typeof text === 'string' ? text.trim() : undefined })
  }
  return (
    <>
      <form onSubmit={submit} className={classes.searchForm}>
        <TextInput
          key={search.search}
          name="search"
          aria-label="Id, external id or the beginning of a name"
          placeholder="ent_…, your own id, or the beginning of a name"
          leftSection={<IconSearch size={16} stroke={1.75} />}
          defaultValue={search.search ?? ''}
          maxLength={255}
          className={classes.grow}
        />
        <Button type="submit" variant="default">
          Search
        </Button>
      </form>
      <Section flush title={search.search ? 'Found' : 'Newest entities'}>
        <EntityTable
          rows={query.data && pages.flatMap(({ entities }) => entities)}
          query={{ isPending: query.isPending, error: query.error, refetch: () => void query.refetch() }}
          more={query}
          isSearch={Boolean(search.search)}
        />
      </Section>
      {pages.some(({ is_more }) => is_more) && (
        <p className="dim small">More names begin like this. Type more of the name to find the others.</p>
      )}
    </>
  )
}

/** The value goes to the server in the body of the call, and never into the address. */
function SearchByIdentifier() {
  const [type, setType] = useState<IdentifierType>('email')
  const find = useAct('entities.find')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const value = String(form.get('value') ?? '').trim()
    const issuer = String(form.get('issuer') ?? '').trim()
    if (value !== '') find.mutate({ type, value, ...(issuer && { issuer }) })
  }
  return (
    <>
      <form onSubmit={submit} className={classes.searchForm}>
        <Select
          aria-label="Type of identifier"
          data={IDENTIFIER_TYPES.map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
          value={type}
          onChange={(value) => setType((value ?? 'email') as IdentifierType)}
          allowDeselect={false}
        />
        <TextInput
          name="value"
          aria-label="Identifier, in full"
          placeholder="The whole value, in any spelling"
          autoComplete="off"
          maxLength={500}
          className={classes.grow}
        />
        <TextInput name="issuer" aria-label="Issuer" placeholder="Issuer, if it was sent" maxLength={100} />
        <Button type="submit" variant="default" loading={find.isPending}>
          Search
        </Button>
      </form>
      <p className={`dim small ${classes.hint}`}>
        Identifiers are stored as keyed hashes, so only the exact value finds its entities.
      </p>
      {find.data && (
        <Section flush title="Entities with this identifier">
          <EntityTable rows={find.data.entities} isSearch />
        </Section>
      )}
    </>
  )
}

function EntityTable({
  isSearch,
  ...table
}: Pick<Parameters<typeof DataTable<ListedEntity>>[0], 'rows' | 'query' | 'more'> & { isSearch: boolean }) {
  return (
    <DataTable
      label="Entities"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      linkOf={({ id }) => ({ to: `entities/${id}` })}
      {...table}
      empty={
        isSearch ? (
          <EmptyState title="No entity is found">
            Names are found by their beginning; ids and identifiers only in full. Look at the other environment as well.
          </EmptyState>
        ) : (
          <EmptyState title="No entity yet">Create one with POST /v1/entities; it lands here at once.</EmptyState>
        )
      }
    />
  )
}
