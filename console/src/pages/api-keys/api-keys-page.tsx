import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { usePlace } from '../../api/use-place.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Section } from '../../components/section.tsx'
import { useDialogInUrl } from '../../components/use-search.ts'
import { environmentName } from '../../shell/environment-switch.tsx'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { type KeyAct, KeyDialogs } from './key-dialogs.tsx'
import { KeyReveal, type RevealedKey } from './key-reveal.tsx'
import { KeysTable } from './keys-table.tsx'

/** The page of the API keys of an environment: create, rotate, disable, revoke. */
export function ApiKeysPage() {
  const { environment } = usePlace()
  const query = useOperation('api-keys.list', {})
  const canManage = usePermission('manage API keys')
  const [isCreating, setIsCreating] = useDialogInUrl('api-keys', 'create')
  const [act, setAct] = useState<KeyAct>()
  const [revealed, setRevealed] = useState<RevealedKey>()
  const [newestId, setNewestId] = useState<string>()
  const reveal = (key: RevealedKey) => {
    setIsCreating(false)
    setAct(undefined)
    setRevealed(key)
    setNewestId(key.id)
  }
  const create = (
    <Button leftSection={<IconPlus size={16} stroke={1.75} />} onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  )
  return (
    <>
      <PageHeader title="API keys" below={`${environmentName(environment)} keys reach ${environment} data only.`}>
        {canManage && create}
      </PageHeader>
      <Section flush>
        <KeysTable
          query={query}
          newestId={newestId}
          canManage={canManage}
          onAct={setAct}
          empty={
            <EmptyState
              title="No keys yet"
              actions={canManage && create}
              preview={['Checkout', 'Nightly import', 'Analyst notebook']}
            >
              Programs call the API with a key. Give each program its own, with only the scopes that it needs.
            </EmptyState>
          }
        />
      </Section>
      {query.data && (
        <CreateKeyDialog
          opened={isCreating && canManage}
          onClose={() => setIsCreating(false)}
          scopes={query.data.scopes}
          onCreated={reveal}
        />
      )}
      <KeyDialogs act={act} onClose={() => setAct(undefined)} onRotated={reveal} />
      <KeyReveal revealed={revealed} onClose={() => setRevealed(undefined)} />
    </>
  )
}
