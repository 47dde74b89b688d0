/** Opacities from 0 to 255, in rows or in one piece. They are valid until the next ones. */
export type Opacities = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
