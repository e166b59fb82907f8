import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { utcOf } from './write-time.ts'

/** The delay of the theme's other tooltips: a list that is scrolled under the pointer shows none. */
const OPEN_DELAY_MS = 200

/** The tooltip of every `Time` of the page. A tooltip for each took a tenth of the time of scrolling a long list. */
export function UtcTooltip() {
  const [time, setTime] = useState<HTMLTimeElement | null>(null)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = ({ target }: Event) => {
      clearTimeout(timer)
      const next = target instanceof Element ? target.closest<HTMLTimeElement>('time[datetime]') : null
      if (next) timer = setTimeout(() => setTime(next), OPEN_DELAY_MS)
      else setTime(null)
    }
    const close = () => {
      clearTimeout(timer)
      setTime(null)
    }
    document.addEventListener('mouseover', follow)
    document.addEventListener('mouseleave', close)
    document.addEventListener('scroll', close, { passive: true })
    return () => {
      close()
      document.removeEventListener('mouseover', follow)
      document.removeEventListener('mouseleave', close)
      document.removeEventListener('scroll', close)
    }
  }, [])
  return time && <Tooltip key={time.dateTime} target={time} label={utcOf(time.dateTime)} opened />
}
