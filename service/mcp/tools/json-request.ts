import type { ApiRequest } from '../../api/request.ts';

/** The request with a JSON body in place of the message of the client. */
export function jsonOf<Request extends Pick<ApiRequest, 'headers'>>(
  request: Request,
  body: object,
): Request & Pick<ApiRequest, 'body'> {
  return {
    ...request,
    headers: { ...request.headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}
