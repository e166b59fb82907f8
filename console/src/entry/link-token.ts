/** What a one-time link holds behind its `#`, which browsers do not send to any server. */
export function linkToken(): string {
  return window.location.hash.slice(1)
}
