import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Handler, readBody, sendJson } from '../http.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import type { LocalPublisher } from '../template.ts';

/** Where the function of a custom resource puts its answer. */
export const answerPath = '/_local/custom-resource';

const maxBodyBytes = 4_096;
const answerSchema = z.object({
  Status: z.enum(['SUCCESS', 'FAILED']),
  Reason: z.string().default('no reason given'),
  RequestId: z.string(),
});
type Answer = z.output<typeof answerSchema>;

export type Publication = ReturnType<typeof createPublication>;

/** The stand-in of CloudFormation for the custom resource that publishes pages. */
export function createPublication(
  publishers: readonly LocalPublisher[],
  functions: Pick<LocalFunctions, 'invoke'>,
  url: string,
) {
  const waiting = new Map<string, (answer: Answer) => void>();

  async function ask({ id, functionId }: LocalPublisher): Promise<void> {
    const RequestId = randomUUID();
    const answered = new Promise<Answer>((resolve) => waiting.set(RequestId, resolve));
    const request = {
      RequestType: 'Create',
      ResponseURL: `${url}${answerPath}`,
      StackId: 'local',
      RequestId,
      LogicalResourceId: id,
    };
    const result = await functions.invoke(functionId, request, 'event');
    if (!result.ok) throw new Error(`${id} failed: ${result.error.errorMessage}`);
    const { Status, Reason } = await answered;
    if (Status === 'FAILED') throw new Error(`${id} failed: ${Reason}`);
  }

  let published: Promise<void> | undefined;
  return {
    /** Publishes at the first call, not at the start. Later calls wait for it. Throws when it failed. */
    publish: (): Promise<void> => {
      published ??= Promise.all(publishers.map(ask)).then(() => undefined);
      // A failed publication is tried again by the next request.
      published.catch(() => {
        published = undefined;
      });
      return published;
    },
    answer: (async (incoming, outgoing) => {
      const bytes = await readBody(incoming, maxBodyBytes);
      const answer = answerSchema.parse(JSON.parse(bytes?.toString('utf8') ?? ''));
      waiting.get(answer.RequestId)?.(answer);
      waiting.delete(answer.RequestId);
      sendJson(outgoing, 200, {});
    }) satisfies Handler,
  };
}
