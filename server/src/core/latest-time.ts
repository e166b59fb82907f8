/** The latest of these ISO 8601 times: a record is not dated before the records that it is based on. */
export function latestOf(first: string, ...others: (string | null)[]): string {
  return others.reduce<string>((latest, time) => (time !== null && time > latest ? time : latest), first)
}
