/** In the bundles, node:crypto without loading WebCrypto (see ../bundle.ts). */
export const {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  getRandomValues,
  hkdfSync,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} = process.getBuiltinModule('node:crypto');
