/** How the page tells what became of a call. */
export interface Messages {
  showDone(message: string): void
  showError(error: Error): void
}

let messages: Messages | undefined

/** Hands in what shows messages: the client of the server lies below the components of which they are made. */
export function showMessagesBy(shown: Messages): void {
  messages = shown
}

/** Tells that an act is done. */
export function showDone(message: string): void {
  messages?.showDone(message)
}

/** Tells that something failed. */
export function showError(error: Error): void {
  messages?.showError(error)
}
