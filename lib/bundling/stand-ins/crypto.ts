/** In the bundles, node:crypto without loading WebCrypto (see ../bundle.ts). */
export const {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  getRandomValues,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  verify,
} = process.getBuiltinModule('node:crypto');
