/**
 * The operations of the public API. This table is their only place: the routes of the
 * gateway, the handlers and the local server follow from it.
 */

/**
 * The two forms in which a failed authentication is answered (docs/api.md). A setting of the deployment
 * chooses.
 */
export type AuthFailureForm = 'envelope' | 'plain';

export const apiRoot = '/api/public/v1';

/**
 * Where vendors call back with POST. The path is no operation of the API: no client calls it, and it has no key.
 */
export const callbackRoute = '/callbacks/v1/{provider}/{creation_id}/{capability}';

export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Relative to apiRoot. */
  readonly path: string;
  /** The name of the handler's file in functions/operations/, without `.ts`. */
  readonly handler: string;
  /** The query parameters of the operation. Every other parameter is refused, so that no typo is ignored. */
  readonly query: readonly string[];
}

export const operations = {
  listModels: { method: 'GET', path: '/models', handler: 'list-models', query: [] },
  generateImage: {
    method: 'POST',
    path: '/images/generate',
    handler: 'generate-image',
    query: [],
  },
  quoteImage: { method: 'POST', path: '/images/quote', handler: 'quote-image', query: [] },
  createUpload: { method: 'POST', path: '/uploads', handler: 'create-upload', query: [] },
  listCreations: {
    method: 'GET',
    path: '/creations',
    handler: 'list-creations',
    query: ['limit', 'cursor', 'status', 'model', 'user'],
  },
  listEvents: {
    method: 'GET',
    path: '/events',
    handler: 'list-events',
    query: ['after', 'limit', 'wait', 'include'],
  },
  getBalance: { method: 'GET', path: '/balance', handler: 'get-balance', query: ['user'] },
  getCreation: { method: 'GET', path: '/creations/{id}', handler: 'get-creation', query: [] },
  cancelCreation: {
    method: 'POST',
    path: '/creations/{id}/cancel',
    handler: 'cancel-creation',
    query: [],
  },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

/** The methods of a path, for the header Allow. Empty when no operation has the path. */
export function methodsOf(path: string): string[] {
  const steps = path.split('/');
  return Object.values(operations)
    .filter((operation) => {
      const pattern = `${apiRoot}${operation.path}`.split('/');
      return (
        pattern.length === steps.length &&
        pattern.every((step, index) => (step.startsWith('{') ? steps[index] !== '' : step === steps[index]))
      );
    })
    .map((operation) => operation.method);
}
