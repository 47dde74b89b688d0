/**
 * The operations of the public API, each stated once: gateway routes, handlers and
 * the local server come from this table.
 */

/** The two documented forms of a failed authentication (interface.md, part 5): a deployment's setting. */
export type AuthFailureForm = 'envelope' | 'plain';

export const apiRoot = '/api/public/v1';

export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Relative to apiRoot. */
  readonly path: string;
  /** The handler's file in functions/operations/, without its ending. */
  readonly handler: string;
  /** Which of the account's rates it counts against. */
  readonly rate: 'get' | 'post';
  /** The query parameters that it takes; every other one is refused, so that a typo is never ignored. */
  readonly query: readonly string[];
}

export const operations = {
  listModels: { method: 'GET', path: '/models', handler: 'list-models', rate: 'get', query: [] },
  generateImage: {
    method: 'POST',
    path: '/images/generate',
    handler: 'generate-image',
    rate: 'post',
    query: [],
  },
  quoteImage: { method: 'POST', path: '/images/quote', handler: 'quote-image', rate: 'post', query: [] },
  listCreations: {
    method: 'GET',
    path: '/creations',
    handler: 'list-creations',
    rate: 'get',
    query: ['limit', 'cursor', 'status', 'model'],
  },
  getBalance: { method: 'GET', path: '/balance', handler: 'get-balance', rate: 'get', query: [] },
  getCreation: { method: 'GET', path: '/creations/{id}', handler: 'get-creation', rate: 'get', query: [] },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

/** The methods that a path takes, for Allow; empty when no operation has the path. */
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
