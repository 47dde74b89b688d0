/** Which operation of docs/openapi.json a request asks for. */
import { apiRoot } from '../../core/contract.ts';
import { openApiFile, type Operation } from './schema-of.ts';

export interface OperationAt {
  readonly operation: Operation;
  /** The steps to the operation in the document. */
  readonly at: readonly string[];
  /** The values of the parameters of the path. */
  readonly path: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
}

/**
 * Undefined when no operation takes the method at the path.
 * @param path with the API's root, and perhaps with a query
 */
export function operationAt(method: string, path: string): OperationAt | undefined {
  const [bare = '', query = ''] = path.split('?');
  for (const [pattern, item] of Object.entries(openApiFile.paths)) {
    const operation = item[method.toLowerCase()];
    const values = operation && pathValues(`${apiRoot}${pattern}`, bare);
    if (values)
      return {
        operation,
        at: ['paths', pattern, method.toLowerCase()],
        path: values,
        query: new Map(new URLSearchParams(query)),
      };
  }
  return undefined;
}

function pathValues(pattern: string, path: string): ReadonlyMap<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, step] of wanted.entries()) {
    const value = given[index] ?? '';
    if (step.startsWith('{') && value !== '') values.set(step.slice(1, -1), value);
    else if (step !== value) return undefined;
  }
  return values;
}
