import { AwsError } from '../../../local/aws/aws-error.ts';
import type { TableEngine } from '../../../local/dynamodb/engine.ts';
import { normalNumber } from '../../../local/dynamodb/numbers.ts';
import { allowedDifferences } from './allowed-differences.ts';
import type { Json } from './random-expressions.ts';

/** Performs an operation as it would come over a socket. A refusal has the member `__type`. */
export function askEngine(engine: TableEngine, operation: string, input: Json): Json {
  const overSocket = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
  try {
    return overSocket(engine.perform(operation, overSocket(input)));
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return overSocket({ __type: error.code, message: error.message, ...error.fields });
  }
}

// Sends operations to Amazon DynamoDB Local as they are: the SDK would correct or refuse wrong ones.

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

// Compares the answers of the engine with those of Amazon DynamoDB Local.

/** How two answers agree. */
export type Agreement =
  | { readonly same: 'same' }
  | { readonly same: 'allowed'; readonly reason: string }
  | { readonly same: 'no'; readonly category: string };

/** Compares two answers to one operation. A refusal has the member `__type`. */
export function compare(operation: string, input: Json, ours: Json, theirs: Json): Agreement {
  const [mine, amazons] = [comparable(operation, input, ours), comparable(operation, input, theirs)];
  if (JSON.stringify(mine) === JSON.stringify(amazons)) return { same: 'same' };
  const allowed = allowedDifferences.find(({ applies }) =>
    applies({ operation, input, ours: mine, theirs: amazons }),
  );
  if (allowed !== undefined) return { same: 'allowed', reason: allowed.reason };
  return { same: 'no', category: `${operation}: ${summary(mine)} | ${summary(amazons)}` };
}

function summary(answer: Json): string {
  return typeof answer['code'] === 'string'
    ? `${answer['code']}: ${String(answer['message']).replace(/\[.*\]/g, '[…]')}`
    : 'ok';
}

function comparable(operation: string, input: Json, answer: Json): Json {
  if (answer['__type'] !== undefined) {
    const { __type, message, Message, ...fields } = answer;
    const code = (__type as string).replace(/^.*#/, '');
    return { code, message: message ?? Message ?? '', ...(sorted(fields) as Json) };
  }
  const { Items, ...rest } = sorted(answer) as Json;
  if (operation === 'BatchGetItem') rest['Responses'] = inAnyOrder(rest['Responses']);
  // The engine does not count capacity.
  delete rest['ConsumedCapacity'];
  if (!Array.isArray(Items)) return rest;
  const texts = Items.map((item: unknown) => JSON.stringify(item));
  return { ...rest, Items: operation === 'Scan' || input['IndexName'] !== undefined ? texts.sort() : texts };
}

/** The items of each table in one order: DynamoDB promises none. */
function inAnyOrder(responses: unknown): Json {
  return Object.fromEntries(
    Object.entries(responses ?? {}).map(([name, items]: [string, unknown]) => [
      name,
      (items as unknown[]).map((item) => JSON.stringify(item)).sort(),
    ]),
  );
}

/** The value with its members in the order of their names, and with numbers in one form. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    members.map(([name, member]: [string, unknown]) => {
      if (name === 'N' && typeof member === 'string') return [name, normalNumber(member)];
      if (name === 'NS' && Array.isArray(member)) return [name, member.map(String).map(normalNumber).sort()];
      return [name, sorted(member)];
    }),
  );
}
