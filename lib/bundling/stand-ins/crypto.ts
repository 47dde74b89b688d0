/** In the bundles, node:crypto without loading WebCrypto (see ../bundle.ts). */
export const {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  getRandomValues,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} = process.getBuiltinModule('node:crypto');
