/** Clients that send POSTs one after the other, each over a connection of its own. */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';

export interface LoadOptions {
  /** The root of the API. */
  readonly api: string;
  readonly key: string;
  readonly model: string;
  readonly creations: number;
  readonly connections: number;
  /** Gets the id of each accepted creation. */
  readonly onAccepted: (id: string) => void;
}

/** Sends all creations. Throws at the first answer that is not 202, with its text. */
export async function postAll(options: LoadOptions): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  let sent = 0;
  async function lane(): Promise<void> {
    while (sent < options.creations) {
      sent += 1;
      options.onAccepted(await post(options, agent));
    }
  }
  try {
    await Promise.all(Array.from({ length: options.connections }, lane));
  } finally {
    agent.destroy();
  }
}

const acceptedSchema = z.object({ id: z.string() });

/** Gives the id of the creation. */
async function post({ api, key, model }: LoadOptions, agent: Agent): Promise<string> {
  const body = JSON.stringify({ model, prompt: 'a quiet lake at dawn' });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const outgoing = request(`${api}/images/generate`, { method: 'POST', agent, headers });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const answered = await text(answer);
  if (answer.statusCode !== 202) throw new Error(`POST answered ${answer.statusCode}: ${answered}`);
  return acceptedSchema.parse(JSON.parse(answered)).id;
}
