/** In the bundles, node:process without asking for its streams (see ../bundle.ts). */
export const { env, versions } = process;
