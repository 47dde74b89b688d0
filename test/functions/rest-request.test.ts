/** The request that the operations see, from the event of a REST API. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { restRequestOf } from '../../functions/http/rest-request.ts';

function eventWith(headers: Readonly<Record<string, string>> | null): APIGatewayProxyEvent {
  const requestContext = { path: '/mcp', requestId: 'request-1', identity: { sourceIp: '203.0.113.9' } };
  return { httpMethod: 'POST', headers, requestContext } as unknown as APIGatewayProxyEvent;
}

it('Names of headers are in lower case, however the client sent them', () => {
  expect(restRequestOf(eventWith({ Authorization: 'Bearer x' })).headers).toEqual({
    authorization: 'Bearer x',
  });
});

it('A request without headers, a query and a body is read', () => {
  const request = restRequestOf(eventWith(null));
  expect(request).toMatchObject({ headers: {}, query: {}, pathId: '' });
  expect(request.body.byteLength).toBe(0);
});
