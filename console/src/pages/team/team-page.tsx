import { Button } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { usePermission } from '../../api/use-me.ts'
import { useOperation } from '../../api/use-operation.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { Reveal } from '../../components/reveal.tsx'
import { Section } from '../../components/section.tsx'
import { useDialogInUrl, usePageSearch } from '../../components/use-search.ts'
import { writeTime } from '../../components/write-time.ts'
import { InviteDialog, type SentInvitation } from './invite-dialog.tsx'
import { RolesSection } from './roles-section.tsx'
import { SingleSignOnSection } from './single-sign-on-section.tsx'
import classes from './team.module.css'
import { type TeamAct, TeamDialogs } from './team-dialogs.tsx'
import { TeamTable } from './team-table.tsx'

/** The page of the operators of an organization: invite, change roles, end sessions, remove. */
export function TeamPage() {
  const query = useOperation('team.list', {})
  const canManage = usePermission('manage operators')
  const [search, setSearch] = usePageSearch('team')
  const [isInviting, setIsInviting] = useDialogInUrl('team', 'invite')
  const [act, setAct] = useState<TeamAct>()
  const [sent, setSent] = useState<SentInvitation>()
  const operators = query.data?.operators
  const removed = operators?.filter(({ state }) => state === 'removed').length ?? 0
  const showsRemoved = search.removed === 'shown'
  const shown = operators?.filter(({ state }) => showsRemoved || state !== 'removed')
  const reveal = (invitation: SentInvitation) => {
    setIsInviting(false)
    setSent(invitation)
  }
  return (
    <>
      <PageHeader title="Team" below="The people of this organization. Roles count in sandbox and in production.">
        {canManage && (
          <Button leftSection={<IconUserPlus size={16} stroke={1.75} />} onClick={() => setIsInviting(true)}>
            Invite
          </Button>
        )}
      </PageHeader>
      <Section flush>
        <TeamTable
          query={query}
          rows={shown}
          roles={query.data?.roles}
          canManage={canManage}
          onAct={setAct}
          onInvited={reveal}
        />
        {removed > 0 && (
          <div className={classes.removed}>
            <Button
              variant="subtle"
              size="compact-xs"
              onClick={() => setSearch({ removed: showsRemoved ? undefined : 'shown' })}
            >
              {showsRemoved ? 'Hide removed operators' : `Show ${removed} removed`}
            </Button>
          </div>
        )}
      </Section>
      {query.data && (
        <div className={classes.columns}>
          <RolesSection roles={query.data.roles} />
          <SingleSignOnSection singleSignOn={query.data.single_sign_on} />
        </div>
      )}
      {query.data && (
        <InviteDialog
          opened={isInviting && canManage}
          onClose={() => setIsInviting(false)}
          roles={query.data.roles}
          onInvited={reveal}
        />
      )}
      <TeamDialogs act={act} roles={query.data?.roles ?? []} onClose={() => setAct(undefined)} />
      <InvitationReveal sent={sent} onClose={() => setSent(undefined)} />
    </>
  )
}

function InvitationReveal({ sent, onClose }: { sent: SentInvitation | undefined; onClose: () => void }) {
  const email = sent?.email ?? ''
  const until = sent ? `, until ${writeTime(sent.expires_at, 'date-time')}` : ''
  return (
    <Reveal
      secret={sent?.link}
      title={`Invitation for ${email}`}
      explanation={`Send this link to ${email} only: it lets its reader join, once${until}. It is shown this one time.`}
      consequence="Closing now means making another link."
      onClose={onClose}
    />
  )
}
