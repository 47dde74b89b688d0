import type { Answer } from '../fixtures/service.ts';

/**
 * The first answer to a request with `Prefer: wait` whose creation ended in time. On a slow machine a
 * creation may take longer than a request can wait. In that case the request is sent again.
 */
export async function inTime(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 202) return answer;
  }
}
