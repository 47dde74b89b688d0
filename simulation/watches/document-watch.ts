/** The invariant of the OpenAPI document: every answer and every delivery is as docs/openapi.json documents it. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { undocumentedDelivery } from '../../document/check/undocumented-delivery.ts';
import { undocumented } from '../../document/check/undocumented.ts';
import type { Post } from '../network/outbound.ts';
import type { Invocation } from '../world/simulated-world.ts';
import type { Accuse } from './money-books.ts';

export interface DocumentWatch {
  /** Called when an API function begins with a request. */
  readonly onSent: (invocation: Invocation, event: APIGatewayProxyEventV2) => void;
  /** Called when an API function answered. */
  readonly onServed: (invocation: Invocation, answer: APIGatewayProxyStructuredResultV2) => void;
  readonly onPost: (post: Post) => void;
}

/** Creates the watch over the answers and deliveries of one world. */
export function createDocumentWatch(accuse: Accuse): DocumentWatch {
  const asked = new Map<string, { readonly method: string; readonly path: string }>();
  return {
    onSent: ({ id }, { rawPath: path, requestContext }) => {
      asked.set(id, { method: requestContext.http.method, path });
    },
    onServed: ({ id }, { statusCode: status = 0, headers = {}, body: text = '' }) => {
      const request = asked.get(id);
      if (!request) return;
      const told = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
      for (const finding of undocumented({ ...request, status, headers: told, text }))
        accuse('every answer is as docs/openapi.json documents it', finding);
    },
    onPost: (post) => {
      for (const finding of undocumentedDelivery(post))
        accuse('every delivery is as docs/openapi.json documents it', finding);
    },
  };
}
