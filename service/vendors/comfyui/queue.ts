/** The server's queue: what it works on, and what waits. Each entry is [number, id, workflow, …]. */
import { fieldsOf, listOf, type VendorHttp, type VendorResponse } from '../vendor-http.ts';
import { isTrouble } from '../vendor-jobs.ts';
import type { VendorSettings } from '../vendor.ts';

export type Queue =
  | { readonly kind: 'queue'; readonly running: readonly unknown[]; readonly pending: readonly unknown[] }
  | { readonly kind: 'trouble' }
  | { readonly kind: 'unknown'; readonly response: VendorResponse };

export async function queueOf({ http, headers, signal }: Connection): Promise<Queue> {
  const response = await http.call({ method: 'GET', to: '/queue', headers, signal });
  if (isTrouble(response)) return { kind: 'trouble' };
  const { queue_running: running, queue_pending: pending } = fieldsOf(response.json);
  return response.status === 200 && Array.isArray(running) && Array.isArray(pending)
    ? { kind: 'queue', running, pending }
    : { kind: 'unknown', response };
}

export function isIn(entries: readonly unknown[], id: string): boolean {
  return entries.some((entry) => listOf(entry)[1] === id);
}

/** A connection to a server of ComfyUI, with the headers of its key. */
export interface Connection extends Pick<VendorSettings, 'name' | 'credentials'> {
  readonly http: VendorHttp;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}
