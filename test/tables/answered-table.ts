/** A table whose calls get the answers that a test names. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../service/aws/dynamodb/table.ts';
import { fakeClock, type FakeClock, stub } from '../api/fakes.ts';

/** An error with this name, as the SDK throws it. */
export const named = (name: string): Error => Object.assign(new Error(name), { name });
/** The key of the item that the tests read and write. */
export const key = { pk: 'A', sk: 'B' };

export interface Command {
  readonly input: Readonly<Record<string, unknown>>;
}
export type Answer = object | Error;

/** A table whose calls get these answers in turn. Later calls get the last answer. */
export function tableThat(...answers: readonly Answer[]): {
  readonly table: Table;
  readonly clock: FakeClock;
  readonly inputs: Command['input'][];
  readonly options: unknown[];
} {
  const clock = fakeClock();
  const inputs: Command['input'][] = [];
  const options: unknown[] = [];
  const client = stub<DynamoDBDocumentClient>({
    send: (command: Command, given: unknown) => {
      const answer = answers[Math.min(inputs.length, answers.length - 1)] ?? {};
      inputs.push(command.input);
      options.push(given);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  });
  const table: Table = { client, name: 'table', clock, randomBytes: (count) => new Uint8Array(count) };
  return { table, clock, inputs, options };
}
