/** A fake of Black Forest Labs that counts the jobs of each prompt and renders when a test says so. */
import {
  fieldsOf,
  startFakeVendor,
  type FakeVendor,
  type Reply,
} from '../../lab/vendors/fakes/fake-vendor.ts';
import { pictureOf } from '../../lab/vendors/fakes/pictures.ts';

export interface SlowVendor extends FakeVendor {
  /** How many jobs the vendor has accepted for this prompt. */
  readonly jobsFor: (prompt: string) => number;
  /** Whether a poll says Ready. */
  readonly mood: { isReady: boolean };
}

export async function startSlowVendor(): Promise<SlowVendor> {
  const mood = { isReady: false };
  const prompts: unknown[] = [];
  const vendor = await startFakeVendor(({ path, json }, origin): Reply => {
    if (path.startsWith('/v1/get_result')) {
      const result = mood.isReady ? { sample: `${origin}/sample.png` } : null;
      return { status: 200, body: { id: '1', status: mood.isReady ? 'Ready' : 'Pending', result } };
    }
    if (path === '/sample.png')
      return { status: 200, headers: { 'content-type': 'image/png' }, body: pictureOf('png', 1024, 1024) };
    const { prompt } = fieldsOf(json);
    if (typeof prompt !== 'string') return { status: 422 };
    const id = String(prompts.push(prompt));
    return { status: 200, body: { id, polling_url: `${origin}/v1/get_result?id=${id}` } };
  });
  return { ...vendor, mood, jobsFor: (prompt) => prompts.filter((one) => one === prompt).length };
}
