import type { ApiRequest } from './request.ts';

/**
 * Whether a browser asks which requests a page of another site may send. Browsers send no key with this question, so
 * it is answered without one, with a 204 from constants, and never counts as a rejection. The answer allows nothing:
 * keys belong on a server.
 */
export function isPreflight({ method, headers }: Pick<ApiRequest, 'method' | 'headers'>): boolean {
  return (
    method === 'OPTIONS' &&
    headers['origin'] !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
