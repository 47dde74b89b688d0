/** Makes the SDK's clients cheaper, without a change to what they send, retry, parse or throw. */

/** The parts of a stack of middleware of the SDK that this file changes. */
interface Stack {
  readonly remove: (name: string) => boolean;
  concat: (other: never) => Stack;
}

/** How a client of the SDK writes requests and reads answers. */
interface Protocol {
  serializeRequest: (schema: { readonly name: string }, input: object) => Promise<object>;
  deserializeResponse: (schema: object, context: object, response: Answer) => Promise<object>;
}

interface Answer {
  readonly statusCode: number;
  readonly body: object;
}

/** The parts of a client of the SDK that this file changes. */
interface Client {
  readonly config: object;
  readonly middlewareStack: object;
}

/**
 * Middleware that only writes headers that are not read here, or that signs or logs. What serializes,
 * retries and deserializes stays.
 */
const withoutMeaning = [
  'contentLengthMiddleware',
  'getUserAgentMiddleware',
  'hostHeaderMiddleware',
  'httpAuthSchemeMiddleware',
  'httpSigningMiddleware',
  'loggerMiddleware',
  'recursionDetectionMiddleware',
] as const;

/** Takes the middleware without meaning out of a client, and makes its settings quick to copy. */
export function lean<Lean extends Client>(client: Lean): Lean {
  const stack = client.middlewareStack as Stack;
  for (const name of withoutMeaning)
    if (!stack.remove(name)) throw new Error(`the SDK's client has no ${name}`);
  leaveOutTheRules(stack);
  makeQuickToCopy(client.config);
  return client;
}

/**
 * Every command adds the middleware that finds its endpoint by the rules of its service. A client with an
 * endpoint of its own, as every client here, uses that endpoint without these rules, too.
 */
function leaveOutTheRules(stack: Stack): Stack {
  const { concat } = stack;
  stack.concat = (other) => {
    const joined = concat(other);
    joined.remove('endpointV2Middleware');
    return leaveOutTheRules(joined);
  };
  return stack;
}

/**
 * The SDK copies the settings of a client three times a call. V8 keeps an object that grew by Object.assign
 * as a hash table, which takes a hundred times longer to copy than any other object. A for-in loop makes V8
 * lay out every prototype anew that it walks along. So these settings serve as a prototype for a moment.
 * Their members stay the same.
 */
function makeQuickToCopy(settings: object): void {
  for (const _name in Object.create(settings)) break;
}

/**
 * Hands the input of a table's command and its answer over as they are, instead of as the bytes of their JSON. Items
 * have DynamoDB's own form in both, and the product keeps no bytes in them. A refusal is read by the SDK as always.
 */
export function withoutBytes<Lean extends { readonly config: object }>(client: Lean): Lean {
  const { protocol } = client.config as { readonly protocol: Protocol };
  const read = protocol.deserializeResponse.bind(protocol);
  protocol.serializeRequest = ({ name }, body) =>
    Promise.resolve({
      method: 'POST',
      protocol: 'https:',
      hostname: 'aws.test',
      path: '/',
      query: {},
      headers: { 'x-amz-target': `DynamoDB_20120810.${name}` },
      body,
    });
  protocol.deserializeResponse = (schema, context, response) =>
    response.statusCode === 200
      ? Promise.resolve({ ...response.body, $metadata: { httpStatusCode: 200 } })
      : read(schema, context, response);
  return client;
}
