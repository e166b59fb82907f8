/** The times of a stored key that decide whether it may be used. */
export interface KeyTimes {
  expires_at: string | null
  /** When it ends because a rotation replaced it. */
  retires_at: string | null
  disabled_at: string | null
  revoked_at: string | null
}

/** The states of an API key. Keys that are active or retiring may be used. */
export const KEY_STATES = ['active', 'retiring', 'disabled', 'replaced', 'expired', 'revoked'] as const

/** The state of an API key. A retiring key has been replaced by a rotation and ends soon; a replaced one has ended. */
export type KeyState = (typeof KEY_STATES)[number]

/** The state of a key at a moment. What cannot be undone comes first. */
export function apiKeyState({ expires_at, retires_at, disabled_at, revoked_at }: KeyTimes, nowMs: number): KeyState {
  if (revoked_at !== null) return 'revoked'
  if (retires_at !== null && Date.parse(retires_at) <= nowMs) return 'replaced'
  if (expires_at !== null && Date.parse(expires_at) <= nowMs) return 'expired'
  if (disabled_at !== null) return 'disabled'
  return retires_at === null ? 'active' : 'retiring'
}
