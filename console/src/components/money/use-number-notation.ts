import { useMe } from '../../api/use-me.ts'
import { type NumberNotation, notationOfLocale, setNotation } from './number-notation.ts'

/**
 * The notation of the person who is signed in: the one of their account, or of the browser. The frames of the console call it
 * before they render a page, so that every number below them is written in it.
 */
export function useNumberNotation(): NumberNotation {
  const notation = useMe().data?.account.number_notation ?? notationOfLocale(navigator.language)
  setNotation(notation)
  return notation
}
