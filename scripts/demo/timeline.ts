/** Something that happens at a moment of the history, and what follows from it. */
export interface Step {
  at: number
  /** Steps of one group never run at the same time. */
  group: number | string
  run(): Promise<readonly Step[]>
}

/** The steps that are still to come, in the order of their time; those of the same time in the order of their arrival. */
export class Timeline {
  readonly #steps: Step[] = []

  /** The time of the next step; undefined if there is none. */
  get nextAt(): number | undefined {
    return this.#steps[0]?.at
  }

  add(steps: readonly Step[]): void {
    for (const step of steps) this.#steps.splice(this.#indexAfter(step.at), 0, step)
  }

  /**
   * Removes the next steps: those within `withinMs` of the first, of at most `groupsMax` groups. Returns the steps of each
   * group, which run one after another; different groups may run at the same time.
   */
  take({ groupsMax, withinMs }: { groupsMax: number; withinMs: number }): Step[][] {
    const groups = new Map<Step['group'], Step[]>()
    const lastAt = (this.nextAt ?? 0) + withinMs
    while (this.#steps[0] && this.#steps[0].at <= lastAt) {
      const { group } = this.#steps[0]
      if (groups.size === groupsMax && !groups.has(group)) break
      const own = groups.get(group) ?? []
      own.push(this.#steps.shift()!)
      groups.set(group, own)
    }
    return [...groups.values()]
  }

  /** The index behind the last step that is not later than this moment. */
  #indexAfter(at: number): number {
    let [low, high] = [0, this.#steps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#steps[middle]!.at <= at) low = middle + 1
      else high = middle
    }
    return low
  }
}
