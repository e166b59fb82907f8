import type { LimitCheck, LimitName } from './backtest-result.ts'

const NAMES: Readonly<Record<LimitName, string>> = {
  decisions_min: 'decisions decided again',
  bad_ppm_max: 'bad rate of what is approved',
  approved_ppm_min: 'approval rate',
  approved_ppm_max: 'approval rate',
  changed_ppm_max: 'share of changed verdicts',
}

/** What a limit found and allows, and by how much it is broken: `bad rate of what is approved 8.4 %, at most 5.0 % (over by 3.4 points)`. */
export function limitWords({ limit, allowed, found, is_kept }: Omit<LimitCheck, 'words'>): string {
  const isLeast = limit.endsWith('_min')
  const write = (value: number) => (limit === 'decisions_min' ? String(value) : percentText(value))
  const bound = `${isLeast ? 'at least' : 'at most'} ${write(allowed)}`
  if (found === null) return `${NAMES[limit]} not known, ${bound}`
  if (is_kept) return `${NAMES[limit]} ${write(found)}, ${bound}`
  const by = Math.abs(found - allowed)
  const distance = limit === 'decisions_min' ? String(by) : `${pointsText(by)} points`
  return `${NAMES[limit]} ${write(found)}, ${bound} (${isLeast ? 'under' : 'over'} by ${distance})`
}

function percentText(ppm: number): string {
  return `${pointsText(ppm)} %`
}

/** With as many decimals as it takes to tell the value from its bound; at least one. */
function pointsText(ppm: number): string {
  const [whole, decimals] = [Math.floor(ppm / 10_000), String(ppm % 10_000).padStart(4, '0')]
  return `${whole}.${decimals[0]}${decimals.slice(1).replace(/0+$/, '')}`
}
