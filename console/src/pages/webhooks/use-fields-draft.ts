import { useState } from 'react'
import { type Draft, useDraft } from '../../drafts/use-draft.ts'
import type { Fields } from './endpoint-fields.tsx'

/** The fields of an endpoint with their draft, which leaves the URL out: its path may hold a token. */
export function useFieldsDraft(
  about: string,
  { url: _url, ...begin }: Fields,
): { fields: Fields; change: (fields: Fields) => void; draft: Draft<Omit<Fields, 'url'>> } {
  const [typedUrl, setTypedUrl] = useState('')
  const draft = useDraft(about, begin)
  const change = ({ url, ...rest }: Fields) => {
    setTypedUrl(url)
    draft.change(rest)
  }
  return { fields: { url: typedUrl, ...draft.value }, change, draft }
}
