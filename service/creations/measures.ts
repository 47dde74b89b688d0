/** Measures the pixels of a picture or of a mask. Throws when they are unreadable, or the signal aborts. */
export interface Measures {
  /** Whether at least 1 % of the pixels are see-through. */
  readonly isTransparent: (bytes: Uint8Array, signal: AbortSignal) => Promise<boolean>;
  /** By how much of 255 the picture differs from the source image where the mask protects it, in the mean. */
  readonly changeWhereProtected: (images: MaskedPicture, signal: AbortSignal) => Promise<number>;
  /** A mask in which what may change is see-through, as vendors read it: itself, or made of one that is black and white. */
  readonly seeThroughMask: (mask: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
}

/** The bytes of a source image, and of its mask. */
export interface MaskedSource {
  readonly source: Uint8Array;
  readonly mask: Uint8Array;
}

export interface MaskedPicture extends MaskedSource {
  readonly picture: Uint8Array;
}
