import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useMe } from '../api/use-me.ts'
import { pathIn } from '../api/use-place.ts'
import { FailedPage } from '../components/failed.tsx'
import { lastPlace } from './last-place.ts'
import { NoOrganizationPage } from './no-organization-page.tsx'
import { OutageBanner } from './outage-banner.tsx'

/** `/`: leads to the overview of the place that was open last. */
export function HomePage() {
  const me = useMe()
  const router = useRouter()
  const place = me.data && lastPlace(me.data.organizations.map(({ id }) => id))
  const path = place && pathIn(place, 'overview')
  useEffect(() => {
    if (path) router.history.replace(path)
  }, [path, router])
  if (me.error && !me.data)
    return (
      <>
        <OutageBanner />
        <FailedPage error={me.error} />
      </>
    )
  return me.data && !place ? <NoOrganizationPage /> : null
}
