/** Clients and bursts of requests for the tests of user tokens. */
import { expect } from 'vitest';
import type { Answer, Client, NewClient, TestService } from '../fixtures/service.ts';
import { isAccepted, roomForAll } from './exact-limits.ts';
import { refusalOf } from './refusal.ts';

export interface Minted {
  readonly id: string;
  readonly token: string;
  readonly expires_at: string;
}

export function accountsOf(service: TestService) {
  return {
    /** Only the token limits its client. */
    wide: async (wanted: NewClient = {}): Promise<Client> =>
      service.client({ ...roomForAll, userPostRate: '10000', userGetRate: '10000', ...wanted }),
    mint: async ({ key }: Client, body: object = {}): Promise<Minted> => {
      const asked = { user: 'alice', spend_limit: 1, ...body };
      const answer = await service.send('/user-tokens', { key, body: asked });
      expect(answer.status, answer.text).toBe(201);
      return answer.body as Minted;
    },
    /** So many requests at once. A request that a busy table refuses is sent again. */
    burst: async (
      count: number,
      send: () => Promise<Answer>,
    ): Promise<{ accepted: Answer[]; refused: Answer[] }> => {
      const one = async (): Promise<Answer> => {
        const answer = await send();
        return answer.status === 503 && refusalOf(answer).details['reason'] === 'overloaded' ? one() : answer;
      };
      const answers = await Promise.all(Array.from({ length: count }, one));
      return {
        accepted: answers.filter(isAccepted),
        refused: answers.filter((answer) => !isAccepted(answer)),
      };
    },
  };
}
