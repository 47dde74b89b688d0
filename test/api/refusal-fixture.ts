/** The log of refused requests over a table of a test, as one environment of a function opens it. */
import { openRefusals, type RefusalLog } from '../../service/api/refusal-store.ts';
import type { ApiRequest } from '../../service/api/request.ts';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { fakeLog } from './fakes.ts';

/** @param days the setting keepPromptsDays */
export function refusalsOf(table: Omit<Table, 'signal'>, log = fakeLog(), days = '90'): () => RefusalLog {
  return openRefusals(
    {
      clock: table.clock,
      randomBytes: table.randomBytes,
      environment: (name) => (name === 'KEEP_PROMPTS_DAYS' ? days : table.name),
      log: () => log,
      schema: () => ({ written: 1, newestKnown: 1 }),
      remembered: (_name, make) => {
        const state = make();
        return () => state;
      },
      dynamodb: table.client,
    },
    { log },
  );
}

export function aRequest(change: Partial<ApiRequest> & { readonly text?: string } = {}): ApiRequest {
  const { text = '', ...rest } = change;
  return {
    method: 'POST',
    path: '/api/public/v1/images/generate',
    pathId: '',
    headers: {},
    idempotencyKey: { kind: 'absent' },
    query: {},
    sourceIp: '203.0.113.77',
    requestId: 'request-1',
    body: Buffer.from(text),
    ...rest,
  };
}
