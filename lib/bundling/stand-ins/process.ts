/** In the bundles, node:process without asking for its streams (see ../bundling.ts). */
export const { env, versions } = process;
