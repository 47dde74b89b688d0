import type { APIGatewayProxyEvent } from 'aws-lambda';
import { readIdempotencyKey } from './idempotency-key.ts';
import type { ApiRequest } from './request.ts';

/** From an event of a REST API. Names of headers come as the client sent them, so they are put in lower case. */
export function restRequestOf(event: APIGatewayProxyEvent): ApiRequest {
  const { requestContext } = event;
  // A request without headers has null here, whatever the type says.
  const sent = (event.headers as typeof event.headers | null) ?? {};
  const headers = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return {
    method: event.httpMethod,
    path: requestContext.path,
    pathId: event.pathParameters?.['id'] ?? '',
    headers,
    idempotencyKey: readIdempotencyKey(headers['idempotency-key']),
    query: event.queryStringParameters ?? {},
    sourceIp: requestContext.identity.sourceIp,
    requestId: requestContext.requestId,
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
  };
}
