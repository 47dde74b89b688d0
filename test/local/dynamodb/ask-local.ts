/** Sends operations to Amazon DynamoDB Local as they are: the SDK would correct or refuse wrong ones. */
import type { Json } from './random-values.ts';

/** Performs an operation. A refusal has the member `__type`. */
export async function askLocal(endpoint: string, operation: string, input: Json): Promise<Json> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      // DynamoDB Local wants a signature, and does not check it.
      authorization:
        'AWS4-HMAC-SHA256 Credential=operator/20261121/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(input),
  });
  return (await answer.json()) as Json;
}
