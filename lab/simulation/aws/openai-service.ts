/** The function of the OpenAI-shaped endpoint, behind a REST API that passes the answer on in parts. */
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { withCatalog } from '../../../service/api/admit.ts';
import type { BeforeCatalog } from '../../../service/catalog/sold-catalog.ts';
import { heldRequestMillis } from '../../../service/contract/limits.ts';
import type { OpenaiImageServices } from '../../../service/openai/open.ts';
import { openaiImages } from '../../../service/openai/openai-images.ts';
import { inOpenaiForm } from '../../../service/openai/serve-openai.ts';
import type { Invocation, World } from '../world/simulated-world.ts';

export interface OpenaiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OpenaiWatch {
  /** Is told that the function begins with a request. */
  readonly onOpenaiSent: (invocation: Invocation, event: APIGatewayProxyEvent) => void;
  /** Is told that the function answered, or that the gateway answered in its place. */
  readonly onOpenaiServed: (invocation: Invocation, answer: OpenaiAnswer) => void;
}

/** The time limit of the function, as lib/ sets it. */
const limitMillis = 300_000;

/** How the gateway answers for a function that died: as DEFAULT_5XX of the REST API. */
const diedAnswer: OpenaiAnswer = {
  status: 503,
  headers: { 'retry-after': '5', 'x-should-retry': 'true' },
  body: '{"error":{"code":"overloaded"}}',
};

/** Sends a request. Rejects when the answer does not reach the client. */
export function createOpenai(
  world: World,
  watch: OpenaiWatch,
  open: () => BeforeCatalog<OpenaiImageServices>,
): (event: APIGatewayProxyEvent) => Promise<OpenaiAnswer> {
  const handle = inOpenaiForm(withCatalog(openaiImages), open, heldRequestMillis);

  async function wholeAnswer(event: APIGatewayProxyEvent, id: string): Promise<OpenaiAnswer> {
    const named = { ...event, requestContext: { ...event.requestContext, requestId: id } };
    const { status, headers, body } = await handle(named, { awsRequestId: id } as Context);
    if (typeof body === 'string') return { status, headers, body };
    const parts: string[] = [];
    for await (const part of body) parts.push(typeof part === 'string' ? part : Buffer.from(part).toString());
    return { status, headers, body: parts.join('') };
  }

  return async (event) => {
    let invocation: Invocation | undefined;
    const result = await world.invoke('openai', limitMillis, (id) => {
      invocation = world.current();
      if (invocation) watch.onOpenaiSent(invocation, event);
      return wholeAnswer(event, id);
    });
    const answer = result.ok ? (result.payload as OpenaiAnswer) : diedAnswer;
    if (invocation) watch.onOpenaiServed(invocation, answer);
    return world.call({ service: 'gateway', operation: 'openai', target: '' }, () => answer);
  };
}
