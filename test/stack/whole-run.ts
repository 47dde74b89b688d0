/** One run in which every function does all that it ever does: what is granted and never used shows here, and so does what is measured. */
import { expect } from 'vitest';
import type { AwsCall } from '../../local/aws/aws-call.ts';
import { png } from '../api/image-files.ts';
import { inTime } from '../api/in-time.ts';
import { answering, startImageOrigin } from '../api/image-origin.ts';
import { startTestService, type Answer, type Client, type TestService } from '../fixtures/service.ts';
import { recordWhen, settled, submit } from '../workflow/creations.ts';

export interface WholeRun {
  /** `role action resource`, as the judge of the policies allowed it. */
  readonly used: ReadonlySet<string>;
  /** One call for each of them that came over the wire, by the same text. */
  readonly calls: readonly AwsCall[];
  /** What the policies refused, in AWS's words. */
  readonly refused: readonly string[];
  /** Every line that the functions logged. */
  readonly log: readonly string[];
}

const day = 86_400;

/** The whole of it: takes some seconds. */
export async function wholeRun(): Promise<WholeRun> {
  const service = await startTestService();
  const origin = await startImageOrigin();
  const watched = watchCalls(service);
  try {
    const client = await service.client();
    const source = origin.at('/source.png', answering(200, png(640, 480)));
    const ended = await useExecutions(service, client);
    await useApi(service, client, source);
    await useReconciler(service);
    await ended();
    // The audit is due at midnight.
    await service.machine.advance(day);
    return { used: service.machine.usedGrants(), ...watched, log: service.log };
  } finally {
    await origin.close();
    await service.end();
  }
}

/** Every call of a function, and what became of those that were refused. */
export function watchCalls({ machine }: TestService): {
  readonly calls: AwsCall[];
  readonly refused: string[];
} {
  const [calls, refused]: [AwsCall[], string[]] = [[], []];
  machine.watchAws(async (call, serve) => {
    if (call.caller !== 'operator') calls.push(call);
    try {
      return await serve();
    } catch (error) {
      if (error instanceof Error && error.message.includes('is not authorized to perform'))
        refused.push(error.message);
      throw error;
    }
  });
  return { calls, refused };
}

async function useApi(service: TestService, { key }: Client, source: string): Promise<void> {
  const get = async (path: string, status = 200): Promise<Answer> => {
    const answer = await service.send(path, { key });
    expect(answer.status, `GET ${path}: ${answer.text}`).toBe(status);
    return answer;
  };
  const body = {
    model: 'sandbox-pro',
    prompt: 'a lake',
    image_urls: [source],
    webhook_url: service.machine.inboxUrl,
  };
  const headers = { 'idempotency-key': 'whole-run', prefer: 'wait=10' };
  const completed = await inTime(() => service.send('/images/generate', { key, body, headers }));
  expect(completed.status, completed.text).toBe(200);
  await service.send('/images/generate', { key, body, headers });
  await service.send('/images/quote', { key, body: { model: 'sandbox-sketch', prompt: 'a lake' } });
  for (const path of [
    '/models',
    '/balance',
    '/creations',
    `/creations/${(completed.body as { id: string }).id}`,
  ])
    await get(path);
  await get('/nowhere', 404);
}

/** A failure, and a crash: the second try looks whether the first one stored an image. It comes some seconds later: meanwhile others go on. */
async function useExecutions(service: TestService, { key }: Client): Promise<() => Promise<void>> {
  const webhook_url = service.machine.inboxUrl;
  const ids = await Promise.all(
    ['a lake [sandbox:fail]', 'a lake [sandbox:crash]'].map((prompt) =>
      submit(service, key, { prompt, webhook_url }),
    ),
  );
  return async () => {
    await Promise.all(ids.map((id) => settled(service, id)));
  };
}

/** One that the reconciler starts, and one that it refunds since it cannot be started in time. */
async function useReconciler(service: TestService): Promise<void> {
  const { machine } = service;
  const { key } = await service.client({ deadline: '30' });
  machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  const late = await submit(service, key, { prompt: 'a lake', webhook_url: machine.inboxUrl });
  await machine.advance(120);
  const patient = await submit(service, (await service.client()).key, { prompt: 'a lake' });
  machine.faults.clear();
  await machine.advance(120);
  await settled(service, patient);
  await recordWhen(service, late, ({ status }) => status === 'failed');
  await machine.advance(1_200);
  await settled(service, late);
}
