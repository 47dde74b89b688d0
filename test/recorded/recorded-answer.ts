/** What a recording of the portal and of the operator API holds. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { WholePortal } from '../portal/whole-portal.ts';

export interface RecordedAnswer {
  readonly title: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the answer, or its text. */
  readonly body: unknown;
  /** The rows of the log of actions about it. */
  readonly logged?: readonly object[];
  /** The lines of the log, each with its members. */
  readonly lines?: readonly (readonly [line: string, fields: unknown])[];
}

/** The rows of the log of actions about an operation, in all accounts. */
function loggedIn({ memory }: WholePortal, operation: string): Record<string, unknown>[] {
  return [...memory.all()]
    .map((item) => unmarshall(item as Record<string, AttributeValue>))
    .filter(({ action }) => action === operation);
}

/** What a request left behind beside its answer, if anything. */
export function leftBy(portal: WholePortal, operation: string): Pick<RecordedAnswer, 'logged' | 'lines'> {
  const logged = loggedIn(portal, operation);
  const lines = portal.log.entries;
  return { ...(logged.length > 0 && { logged }), ...(lines.length > 0 && { lines }) };
}

/** Bytes that never repeat, and are the same in each run. */
export function countedBytes(): (count: number) => Uint8Array {
  let drawn = 0;
  return (count) => {
    drawn += 1;
    return new Uint8Array(count).map((_, place) =>
      place < 4 ? drawn >> (8 * place) : drawn * 31 + place * 7,
    );
  };
}
