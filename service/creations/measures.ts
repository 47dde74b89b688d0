/** Looks at the pixels of a picture. Throws when it cannot read them, or the signal aborts. */
export interface Measures {
  /** Whether at least 1 % of the pixels are see-through. */
  readonly isTransparent: (bytes: Uint8Array, signal: AbortSignal) => Promise<boolean>;
}
