import { Box, Button } from '@mantine/core'
import { useOperation } from '../api/use-operation.ts'
import { PageLink } from './page-link.tsx'
import { Banner } from './state-badge.tsx'
import { writeRate } from './write-number.ts'

/** A mark where the active policy expects another bad rate than was observed; nothing where it does not, or too little is known. */
export function CalibrationMark() {
  const { data } = useOperation('policy-calibration.watch', {}, { refetchIntervalMs: 600_000 })
  const active = data?.active
  if (!active?.has_parted || active.expected === null) return null
  const { version, expected, observed } = active
  const open = { to: `policies/${version}`, search: { tab: 'calibration' } } as const
  return (
    <Box mb={16}>
      <Banner
        tone="warn"
        action={
          <Button component={PageLink} {...open} variant="default" size="xs">
            Open the calibration
          </Button>
        }
      >
        <p>
          {version} expects {writeRate(expected)} of its credit to go bad; {writeRate(observed.share!)} did, and the 95
          % interval from {writeRate(observed.low!)} to {writeRate(observed.high!)} leaves the expected rate out.
        </p>
      </Banner>
    </Box>
  )
}
