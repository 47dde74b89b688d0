/** In the bundles, node:http without loading all of fetch (see ../bundle.ts). */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');
