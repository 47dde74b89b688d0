import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import type { AnswerSink } from '../lambda/messages.ts';
import { connectionHeaders } from './gateway-response.ts';

const headSchema = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  cookies: z.array(z.string()).default([]),
});

/** REST APIs rename this header of a function's answer. https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html */
function renamed(name: string): string {
  return name.toLowerCase() === 'www-authenticate' ? 'x-amzn-remapped-www-authenticate' : name;
}

/** An answer on its way from a function to a client. */
export interface StreamedAnswer {
  readonly sink: AnswerSink;
  /** Resolves when the answer is whole, or when nothing has come for too long. */
  readonly ended: Promise<'whole' | 'idle'>;
  /** Whether status and headers are out. */
  readonly hasBegun: () => boolean;
  /** Takes no more parts. */
  readonly stop: () => void;
}

/** Sends status and headers when the function gives them, and each part as it comes. */
export function createStreamedAnswer(outgoing: ServerResponse, idleMillis: number): StreamedAnswer {
  const { promise: ended, resolve } = Promise.withResolvers<'whole' | 'idle'>();
  let isTaking = true;
  let hasBegun = false;
  const idle = setTimeout(() => resolve('idle'), idleMillis);
  const stop = (): void => {
    isTaking = false;
    clearTimeout(idle);
  };
  outgoing.once('close', stop);
  return {
    ended,
    hasBegun: () => hasBegun,
    stop,
    sink: {
      head: (given) => {
        const { data: head } = headSchema.safeParse(given);
        if (!isTaking || head === undefined) return;
        hasBegun = true;
        idle.refresh();
        for (const [name, value] of Object.entries(head.headers))
          if (!connectionHeaders.has(name.toLowerCase())) outgoing.setHeader(renamed(name), String(value));
        if (head.cookies.length > 0) outgoing.setHeader('set-cookie', head.cookies);
        outgoing.writeHead(head.statusCode);
        outgoing.flushHeaders();
      },
      part: async (bytes) => {
        // Bytes before a head are no answer. A client that has left gets nothing more, and the function
        // continues.
        if (!isTaking || !hasBegun || bytes.length === 0) return;
        idle.refresh();
        if (outgoing.write(bytes)) return;
        const left = new AbortController();
        const close = (): void => left.abort();
        outgoing.once('close', close);
        await once(outgoing, 'drain', { signal: left.signal }).catch(() => undefined);
        outgoing.off('close', close);
      },
      end: () => {
        if (!hasBegun) return;
        stop();
        outgoing.end();
        resolve('whole');
      },
    },
  };
}
