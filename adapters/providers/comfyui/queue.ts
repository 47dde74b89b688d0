/** The server's queue: what it works on, and what waits. Each entry is [number, id, workflow, …]. */
import { isTrouble } from '../vendor-jobs.ts';
import type { VendorResponse } from '../vendor-http.ts';
import { fieldsOf, listOf } from '../vendor-json.ts';
import type { Connection } from './connection.ts';

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
