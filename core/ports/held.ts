/** The places in which requests of an account are held. */
import type { AccountId } from '../ids.ts';

/** Where a request can be held: GET /events, `Prefer: wait`, the OpenAI-shaped endpoint, MCP. */
export type Door = 'events' | 'generate' | 'images' | 'mcp';

/** The places of each account at one door. */
export interface HeldPlaces {
  readonly door: Door;
  /** How many requests of an account are held at once. */
  readonly limit: number;
  /** Undefined: the account has no place left. Throws Overloaded when the table stayed busy. */
  claim(account: AccountId, untilMillis: number, nowMillis: number): Promise<HeldPlace | undefined>;
  /** Gives a place back before its time. */
  release(account: AccountId, place: HeldPlace): Promise<void>;
}

/** The right to hold one request. It ends by itself, so that a function that is killed does not keep it. */
export interface HeldPlace {
  readonly name: string;
  readonly holder: string;
}
