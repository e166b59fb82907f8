import { TextInput } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { usePageHref } from '../../components/page-link.tsx'

/** A field that opens a decision by its id. */
export function JumpToDecision() {
  const router = useRouter()
  const href = usePageHref()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const id = String(new FormData(event.currentTarget).get('id') ?? '').trim()
        if (id !== '') router.history.push(href(`decisions/${encodeURIComponent(id)}`))
      }}
    >
      <TextInput
        name="id"
        placeholder="dec_…"
        aria-label="Open a decision by its id"
        leftSection={<IconArrowRight size={15} stroke={1.75} />}
        className="mono"
        w={200}
      />
    </form>
  )
}
