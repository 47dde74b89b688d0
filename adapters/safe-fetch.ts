/**
 * The one way out to addresses that clients give: webhooks, source images and test
 * deliveries. Each hop is checked and pinned, so that a name that turns private between
 * check and connection changes nothing.
 */
import { maxSourceBytes, sourceRedirects, sourceTimeoutMillis } from '../core/limits.ts';
import type { AddressVerdict, Outbound, SourceResult } from '../core/ports/outbound.ts';
import { webhookAttemptMillis, webhookResponseBytes } from '../core/webhook.ts';
import { findTarget, resolveBySystem, type OutboundRules, type Resolve, type Target } from './outbound-address.ts';
import { exchange, type ExchangeAnswer } from './pinned-exchange.ts';

export type { OutboundRules } from './outbound-address.ts';

const agentName = 'Darkroom/1';

export function createOutbound(rules: OutboundRules, resolve: Resolve = resolveBySystem): Outbound {
  return {
    check: async (url): Promise<AddressVerdict> => {
      const target = await findTarget(url, 'webhook', rules, resolve);
      switch (target.kind) {
        case 'allowed':
          return { kind: 'allowed' };
        case 'unresolved':
          return { kind: 'refused', why: 'must have a host name that resolves' };
        case 'refused':
          return target;
      }
    },
    post: async (url, headers, body) => {
      const signal = AbortSignal.timeout(webhookAttemptMillis);
      try {
        const target = await within(signal, findTarget(url, 'webhook', rules, resolve));
        if (target.kind !== 'allowed') return { kind: 'unanswered', reason: target.kind === 'refused' ? 'address refused' : 'name not resolved' };
        const answer = await exchange({ ...target, method: 'POST', headers, body, mostBytes: webhookResponseBytes, signal });
        return { kind: 'answered', status: answer.status, excerpt: answer.body.toString('utf8') };
      } catch (error) {
        return { kind: 'unanswered', reason: signal.aborted ? 'timeout' : reasonOf(error) };
      }
    },
    fetchSource: async (url, overall) => {
      const signal = AbortSignal.any([overall, AbortSignal.timeout(sourceTimeoutMillis)]);
      try {
        return await fetchSource(url, (text) => within(signal, findTarget(text, 'image', rules, resolve)), signal);
      } catch {
        return { kind: 'failed', retryable: true };
      }
    },
  };
}

/** A resolver has no time limit of its own: the exchange's bounds it, too. */
function within<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      const stop = (): void => reject(new Error('timeout'));
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    }),
  ]);
}

async function fetchSource(first: string, find: (text: string) => Promise<Target>, signal: AbortSignal): Promise<SourceResult> {
  let address = first;
  for (let redirects = 0; redirects <= sourceRedirects; redirects += 1) {
    const target = await find(address);
    if (target.kind === 'refused') return target;
    if (target.kind === 'unresolved') return { kind: 'failed', retryable: true };
    const headers = { 'user-agent': agentName, accept: 'image/jpeg, image/png, image/webp', 'accept-encoding': 'identity' };
    const answer = await exchange({ ...target, method: 'GET', headers, mostBytes: maxSourceBytes, signal });
    const next = redirectOf(answer, target.url);
    if (next === undefined) return sourceOf(answer);
    address = next;
  }
  return { kind: 'failed', retryable: false };
}

const redirectStatuses = [301, 302, 303, 307, 308];

function redirectOf({ status, location }: ExchangeAnswer, from: URL): string | undefined {
  if (!redirectStatuses.includes(status) || location === undefined) return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from).href : location;
}

/** Network failures, time-outs, 5xx and 429 may pass; every other status says the same again. */
function sourceOf({ status, body, cut }: ExchangeAnswer): SourceResult {
  if (status >= 200 && status < 300) return cut ? { kind: 'too_large' } : { kind: 'fetched', bytes: body };
  return { kind: 'failed', retryable: status >= 500 || status === 429 };
}

/** A word for the delivery log; the error's own text could name addresses that the client must not learn. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'connection closed';
  if (/CERT|TLS|SSL/.test(code)) return 'tls';
  return 'no valid http answer';
}
