/** A row of the log of refused requests, as the table holds it. */
import type { KeyId, TokenId } from '../values/ids.ts';
import type { Problem } from '../values/problem.ts';

/** How long a row stays, unless the setting keepPromptsDays is less. */
export const loggedDays = 7;

export const requestDoors = ['api', 'openai', 'mcp', 'portal'] as const;
export type RequestDoor = (typeof requestDoors)[number];

export interface LoggedRefusal {
  /** When the refusal was decided, RFC 3339. */
  readonly at: string;
  readonly door: RequestDoor;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  readonly code: Problem['code'];
  readonly reason?: string | undefined;
  /** The first field that is wrong. */
  readonly field?: string | undefined;
  readonly message: string;
  readonly keyId: KeyId;
  readonly tokenId?: TokenId | undefined;
  readonly requestId: string;
  readonly millis: number;
  /** The network of the client: 203.0.113.0/24. */
  readonly address: string;
  /** The beginning of the body. Absent: it is empty, or no text. */
  readonly body?: string | undefined;
  /** How many refusals of the kind this row counts. It then shows the last of them. Absent: 1. */
  readonly count?: number | undefined;
}
