import { expect, it } from 'vitest';
import type { ProtectionServices } from '../../service/release/open.ts';
import { protectTable } from '../../service/release/protect-table.ts';
import { fakeLog } from '../api/fakes.ts';

type Told = 'protected' | 'busy' | Error;

interface Opened {
  readonly services: ProtectionServices;
  readonly asked: string[];
  readonly pauses: number[];
  readonly answers: [url: string, answer: object][];
}

/** @param told what DynamoDB says at each try; the last one holds from then on */
function opened(...told: readonly Told[]): Opened {
  const [asked, pauses]: [string[], number[]] = [[], []];
  const answers: Opened['answers'] = [];
  const services = {
    log: fakeLog(),
    clock: {
      sleep: (millis: number) => {
        pauses.push(millis);
        return Promise.resolve();
      },
    },
    protection: {
      protect: (table: string) => {
        asked.push(table);
        const next = told[Math.min(asked.length, told.length) - 1] ?? 'protected';
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      },
    },
    answer: (url: string, answer: object) => {
      answers.push([url, answer]);
      return Promise.resolve();
    },
  } as unknown as ProtectionServices;
  return { services, asked, pauses, answers };
}

const request = (RequestType: string): object => ({
  RequestType,
  ResponseURL: 'https://answer.example.com/signed',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Protected',
  ResourceProperties: { ServiceToken: 'arn', TableName: 'Darkroom-table', Definition: 'ab12' },
});

it.each(['Create', 'Update'])('The request %s protects the table and is answered', async (type) => {
  const { services, asked, answers } = opened('protected');
  await protectTable(request(type), services);
  expect(asked).toEqual(['Darkroom-table']);
  expect(answers).toEqual([
    [
      'https://answer.example.com/signed',
      {
        StackId: 'stack',
        RequestId: 'request',
        LogicalResourceId: 'Protected',
        PhysicalResourceId: 'Darkroom-table',
        Status: 'SUCCESS',
        Reason: 'the table is protected',
      },
    ],
  ]);
});

it('A table that is being changed is tried again every ten seconds', async () => {
  const { services, asked, pauses, answers } = opened('busy', 'busy', 'protected');
  await protectTable(request('Create'), services);
  expect([asked.length, pauses]).toEqual([3, [10_000, 10_000]]);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'SUCCESS' });
});

it('A table that stays busy fails the deployment after two minutes', async () => {
  const { services, asked, answers } = opened('busy');
  await protectTable(request('Create'), services);
  expect(asked).toHaveLength(12);
  expect(answers[0]?.[1]).toMatchObject({
    Status: 'FAILED',
    Reason: 'DynamoDB was changing the table for two minutes',
  });
});

it('A refusal fails the deployment with its reason, so that no deployment waits for its time limit', async () => {
  const { services, asked, answers } = opened(new Error('DynamoDB answered 400 AccessDeniedException'));
  await protectTable(request('Create'), services);
  expect(asked).toHaveLength(1);
  expect(answers[0]?.[1]).toMatchObject({
    Status: 'FAILED',
    Reason: 'DynamoDB answered 400 AccessDeniedException',
  });
});

it('The deletion of the stack leaves the table and its protection alone', async () => {
  const { services, asked, answers } = opened();
  await protectTable(request('Delete'), services);
  expect(asked).toEqual([]);
  expect(answers[0]?.[1]).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'Darkroom-table' });
});
