/**
 * Sends the requests of a provider that an operator configures. The host name is resolved here, and every one of its
 * addresses must be allowed. The connection goes to exactly these addresses, so a name that points to another address
 * a moment later is not followed there.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { unlessAborted } from '../aws/clock.ts';
import type { ProviderDefinition } from '../catalog/provider-definition.ts';
import { literalAddress } from '../outbound/client-url.ts';
import { type Connect, exchange, type Resolve, resolveBySystem } from '../outbound/pinned-exchange.ts';
import { isPublicAddress, isReachableInside } from '../outbound/public-address.ts';
import { addressRefused, CallBroke, type Send } from './vendor-http.ts';

export interface GuardedServices {
  /** Absent: the system resolves names. */
  readonly resolve?: Resolve;
  /** Absent: the system opens sockets. */
  readonly connect?: Connect;
  /** In which private networks a provider may be. Absent: in all. */
  readonly privateNetworks?: readonly string[] | undefined;
}

type Network = ProviderDefinition['network'];

export function sendTo(network: Network, services: GuardedServices = {}): Send {
  const { resolve = resolveBySystem, connect, privateNetworks } = services;
  const isAllowed = (address: string): boolean =>
    network === 'public' ? isPublicAddress(address) : isReachableInside(address, privateNetworks);
  return async (text, { method, headers, body, signal, mostBytes }) => {
    const url = new URL(text);
    if (network === 'public' && url.protocol !== 'https:') throw addressRefused();
    const addresses = await addressesOf(url, resolve, signal);
    if (!addresses.every(({ address }) => isAllowed(address))) throw addressRefused();
    const sent = await bytesOf(body);
    const answer = await exchange({
      url,
      addresses,
      method,
      headers: { 'accept-encoding': 'identity', ...headers, ...sent?.headers },
      ...(sent && { body: sent.bytes }),
      mostBytes,
      signal,
      ...(connect && { connect }),
    });
    if (answer.cut) throw new CallBroke('TOO_LARGE', true);
    return { status: answer.status, headers: headersOf(answer.headers), bytes: answer.body };
  };
}

/** Throws CallBroke when the host has no address. */
async function addressesOf(
  url: URL,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  const literal = literalAddress(url);
  const addresses =
    literal === undefined
      ? await unlessAborted(signal, resolve(url.hostname))
      : [{ address: literal, family: isIP(literal) }];
  if (addresses.length === 0) throw new CallBroke('ENOTFOUND', false);
  return addresses;
}

interface SentBytes {
  readonly bytes: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** A form becomes bytes, and its type names the boundary between its parts. */
async function bytesOf(body: string | FormData | undefined): Promise<SentBytes | undefined> {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return { bytes: body, headers: {} };
  const form = new Response(body);
  return {
    bytes: new Uint8Array(await form.arrayBuffer()),
    headers: { 'content-type': form.headers.get('content-type') ?? '' },
  };
}

function headersOf(received: NodeJS.Dict<string | string[]>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received))
    for (const line of [value ?? []].flat()) headers.append(name, line);
  return headers;
}
