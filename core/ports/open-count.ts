/** The running count of open creations (core/open-count.ts). */
export interface OpenCountStore {
  /** Adds to the count, or takes from it. Throws Overloaded when the signal ends the try. */
  add(change: number, signal: AbortSignal): Promise<void>;
}
