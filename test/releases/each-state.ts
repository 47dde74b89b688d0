/** Brings creations into each state in which a release can leave them to the next one. */
import { recordWhen, settled, submitToAnyRelease as submit } from '../whole/workflow/creations.ts';
import type { TwoReleases } from './two-releases.ts';

/** The prompts say what the creations are. The last four are open. */
export const statesLeft = {
  completed: 'completed and announced',
  failed: 'failed [sandbox:fail]',
  announcing: 'completed and not yet announced',
  polled: 'a job of the vendor',
  called: 'a call whose end nobody saw',
  queued: 'never started',
} as const;

export async function creationsInEachState(two: TwoReleases): Promise<void> {
  const { service, receiver } = two;
  const { machine } = service;
  const client = await service.client({ maxConcurrent: '20', deadline: '720' });
  const ofVendor = await two.vendorClient();
  const ask = (prompt: string, hook: string): Promise<string> =>
    submit(service, client.key, { prompt, webhook_url: hook });
  await settled(service, await ask(statesLeft.completed, receiver.hook('completed', 200)));
  await settled(service, await ask(statesLeft.failed, receiver.hook('failed', 200)));
  const announcing = await ask(statesLeft.announcing, receiver.hook('announcing', 503, 200));
  await recordWhen(
    service,
    announcing,
    ({ webhook }) => webhook?.attempts === 1 && webhook.body !== undefined,
  );
  const polled = await submit(service, ofVendor.key, { model: 'flux-2-pro', prompt: statesLeft.polled });
  await recordWhen(service, polled, ({ attempts }) => attempts[0]?.jobId !== undefined);
  // The vendor gets the call, and the answer never comes: the job is not noted.
  machine.interceptAws((call, serve) =>
    call.operation === 'UpdateItem' && JSON.stringify(call.input).includes('jobId')
      ? new Promise(() => undefined)
      : serve(),
  );
  const called = await submit(service, ofVendor.key, { model: 'flux-2-pro', prompt: statesLeft.called });
  await recordWhen(service, called, ({ attempts }) => attempts.length === 1);
  machine.faults.set({ call: 'states:StartExecution', error: 'Throttling', every: 1 });
  await ask(statesLeft.queued, receiver.hook('queued', 200));
}
