/** In the bundles, node:https without the copy of its names (see ../bundle.ts). */
const https = process.getBuiltinModule('node:https');
export default https;
export const { request } = https;
