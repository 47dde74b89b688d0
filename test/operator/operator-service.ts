/** The operator API of a running service: its keys come from the command, and its answers over sockets. */
import type { Client } from '../fixtures/service.ts';
import { sendFrom, startTestService, type TestService } from '../fixtures/service.ts';
import { adminJson } from '../admin/admin-run.ts';
import { undocumented } from '../../service/document/check/operator-undocumented.ts';
import { operatorRoot } from '../../service/contract/operator-operations.ts';

/** The members of the answers that tests read. A member that an answer has not is undefined, and fails its test. */
export interface AnyBody {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly condition: string;
  readonly credit_line: number;
  readonly external_id: string | null;
  readonly version: string;
  readonly already_applied: boolean;
  readonly revoked_at: string | null;
  readonly secret: string;
  readonly signing_until_then: string | null;
  readonly total: Readonly<Record<string, number>>;
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly data: readonly AnyRow[];
  readonly error: {
    readonly code: string;
    readonly details: Readonly<Record<string, unknown>> & {
      readonly errors: readonly { readonly field: string }[];
    };
  };
}

export interface AnyRow {
  readonly id: string;
  readonly kind: string;
  readonly amount: number;
  readonly at: string;
  readonly reference: string | null;
  readonly action: string;
  readonly outcome: string;
  readonly note: string | null;
  readonly person: string | null;
  readonly operator_key: { readonly id: string; readonly name: string } | null;
  readonly routes: readonly { readonly costs: readonly object[] | null }[];
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnyBody;
  readonly text: string;
}

export interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly key?: string | null;
  readonly idempotencyKey?: string;
  /** The address of this machine that the request comes from, such as 127.0.0.2. */
  readonly from?: string;
}

export interface MadeKey {
  readonly id: string;
  readonly key: string;
}

export const everyScope =
  'accounts:read,accounts:write,keys:write,wallet:credit,wallet:adjust,reports:read,catalog:read';

/** Starts a service, with a key that has every scope and whose rate no test meets. */
export async function startOperatorService() {
  const service: TestService = await startTestService();
  const run = (...args: readonly string[]): ReturnType<typeof adminJson> =>
    adminJson(service.folder, ...args);
  const makeKey = async (scopes: string, ...options: readonly string[]): Promise<MadeKey> => {
    const made = await run('operator-keys', 'create', '--name', 'back end', '--scopes', scopes, ...options);
    return { id: String(made['id']), key: String(made['key']) };
  };
  const fast = ['--post-rate', '100000', '--get-rate', '100000'];
  const main = await makeKey(everyScope, ...fast);
  const root = `${new URL(service.machine.apiUrl).origin}${operatorRoot}`;
  const answers: Told[] = [];
  const findings: string[] = [];
  const ask = async (path: string, asked: Asked = {}): Promise<Told> => {
    const { body, key = main.key, idempotencyKey, from } = asked;
    const method = asked.method ?? (body === undefined ? 'GET' : 'POST');
    const sent = {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const url = `${root}${path}`;
    const response = from === undefined ? await fetch(url, sent) : await sendFrom(from, url, sent);
    const text = await response.text();
    const told = {
      status: response.status,
      headers: response.headers,
      text,
      body: JSON.parse(text) as AnyBody,
    };
    answers.push(told);
    findings.push(...undocumented({ ...told, method, path, sent: body }));
    return told;
  };
  /** Repeats a request that the busy table refused, as a back end does. */
  const insist = async (path: string, asked: Asked): Promise<Told> => {
    for (;;) {
      const told = await ask(path, asked);
      if (told.status !== 503) return told;
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 400));
    }
  };
  return {
    service,
    main,
    root,
    answers,
    /** Where the answers so far were not as docs/operator-openapi.json documents them. */
    findings,
    ask,
    insist,
    makeKey,
    run,
    fast,
    /** What an account can spend, and what its ledger adds up to. */
    books: async (account: string): Promise<{ available: number; ledger: number }> => {
      const { accounts, wallet } = service.operator;
      const id = account as Client['account']['id'];
      const rows = await wallet.ledger(id);
      return {
        available: (await accounts.read(id))?.availableMicros ?? Number.NaN,
        ledger: rows.reduce((sum, { amountMicros }) => sum + amountMicros, 0),
      };
    },
    open: async (body: object = {}): Promise<string> =>
      (await ask('/accounts', { body: { name: 'Studio', ...body } })).body.id,
  };
}
