/**
 * OpenAI's Images API as a provider that answers at once. The picture is made once, so that the provider
 * takes next to no processor time from the service that is measured.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { fakeOpenaiKey } from '../vendors/fakes/openai/server.ts';
import { imageAnswer } from '../vendors/fakes/openai/rows.ts';
import { pictureOf } from '../vendors/fakes/pictures.ts';

export interface QuickProvider {
  readonly url: string;
  /** The key of the provider's account. */
  readonly key: string;
  /** How many requests wait for their answer at present. */
  readonly open: () => number;
  /** The most requests that have waited at one time. */
  readonly mostOpen: () => number;
  readonly stop: () => Promise<void>;
}

/** Starts the provider on a free port of loopback. It answers each request after `waitMillis`. */
export async function startQuickProvider(waitMillis: number): Promise<QuickProvider> {
  const picture = pictureOf('png', 1024, 1024).toString('base64');
  const body = JSON.stringify(imageAnswer(picture).body);
  let open = 0;
  let mostOpen = 0;
  const server = createServer((incoming, outgoing) => {
    incoming.resume().on('end', () => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      outgoing.on('close', () => {
        open -= 1;
      });
      const answer = (): void => {
        outgoing.writeHead(200, { 'content-type': 'application/json' }).end(body);
      };
      if (waitMillis === 0) answer();
      else setTimeout(answer, waitMillis);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    key: fakeOpenaiKey,
    open: () => open,
    mostOpen: () => mostOpen,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
