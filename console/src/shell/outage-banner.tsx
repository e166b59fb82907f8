import { Button } from '@mantine/core'
import { IconCloudOff } from '@tabler/icons-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { callAccount } from '../api/call.ts'
import { isOutage, type Outage, outageWatch } from '../api/outage.ts'
import { Banner } from '../components/state-badge.tsx'
import { writeTime } from '../components/write-time.ts'
import classes from './outage-banner.module.css'

/** Says that the server does not answer, asks it again, and goes by itself once it answers. `isInset`: within the padding of a page. */
export function OutageBanner({ isInset = false }: { isInset?: boolean }) {
  const outage = useSyncExternalStore(outageWatch.subscribe, outageWatch.current)
  return outage ? <Countdown key={outage.retryAtMs} outage={outage} isInset={isInset} /> : null
}

function Countdown({ outage: { sinceMs, retryAtMs }, isInset }: { outage: Outage; isInset: boolean }) {
  const [leftMs, setLeftMs] = useState(() => retryAtMs - Date.now())
  const [isAsking, setIsAsking] = useState(false)
  const secondsLeft = Math.max(0, Math.ceil(leftMs / 1_000))
  useEffect(() => {
    const timer = setInterval(() => setLeftMs(retryAtMs - Date.now()), 250)
    return () => clearInterval(timer)
  }, [retryAtMs])
  useEffect(() => {
    if (secondsLeft === 0) setIsAsking(true)
  }, [secondsLeft])
  useEffect(() => {
    if (isAsking) void askAgain()
  }, [isAsking])
  return (
    <div className={classes.outage} data-inset={isInset || undefined}>
      <Banner
        tone="warn"
        icon={<IconCloudOff size={16} stroke={1.75} />}
        action={
          <Button variant="default" size="xs" loading={isAsking} onClick={() => setIsAsking(true)}>
            Try now
          </Button>
        }
      >
        <b>The server has not answered since {writeTime(new Date(sinceMs).toISOString(), 'time')}.</b> What you type is
        kept in this browser.{' '}
        <span aria-hidden="true">{isAsking ? 'Trying …' : `Trying again in ${secondsLeft} s.`}</span>
      </Banner>
    </div>
  )
}

/** An answer, whatever it says, ends the outage (`call.ts`); another failure begins the next countdown. */
async function askAgain(): Promise<void> {
  await callAccount('account.show', {}).catch((error: unknown) => {
    if (isOutage(error)) outageWatch.failed()
  })
}
