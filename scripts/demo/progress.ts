const WIDTH = 32

/** Where progress is shown: a terminal, or a stream of lines. */
export interface ProgressOutput {
  isTTY?: boolean
  write(text: string): unknown
}

/** Shows how far a task is: a bar that is drawn again on a terminal, a line for every tenth elsewhere. */
export class Progress {
  readonly #output: ProgressOutput
  #shown = -1

  constructor(output: ProgressOutput) {
    this.#output = output
  }

  /** Shows a share from 0 to 1 and what is being done. */
  show(share: number, what: string): void {
    const percent = Math.min(100, Math.floor(share * 100))
    if (this.#output.isTTY) {
      const filled = Math.round((percent / 100) * WIDTH)
      const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
      this.#output.write(`\r\u001b[2K${bar} ${String(percent).padStart(3)} %  ${what}`)
    } else if (Math.floor(percent / 10) > Math.floor(this.#shown / 10) || this.#shown < 0) {
      this.#output.write(`${String(percent).padStart(3)} %  ${what}\n`)
    }
    this.#shown = percent
  }

  /** Ends the line of the bar. */
  end(): void {
    if (this.#output.isTTY) this.#output.write('\r\u001b[2K')
  }
}
