/**
 * Every row of the fake of every vendor whose key is a text: what the adapter makes of the answer. The rows of
 * Bedrock, ComfyUI and the compatible servers are tested beside their requests.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { fakes } from '../../lab/vendors/fakes/all-fakes.ts';
import type { VendorRow } from '../../lab/vendors/fakes/fake-vendor.ts';
import type { RefusalReason } from '../../service/contract/failures.ts';
import { createAlibaba } from '../../service/vendors/alibaba.ts';
import { createBfl } from '../../service/vendors/bfl.ts';
import { createFal } from '../../service/vendors/fal/provider.ts';
import { createGoogle } from '../../service/vendors/google.ts';
import { createIdeogram } from '../../service/vendors/ideogram.ts';
import { createOpenai } from '../../service/vendors/openai.ts';
import { createReplicate } from '../../service/vendors/replicate/provider.ts';
import { headed, headerOf, jobsLike, outcomeOf, talkTo } from './vendor-talk.ts';

type Outcome = RefusalReason | 'rendered';

/** What most answers mean that end a creation so. */
const usual: Readonly<Record<VendorRow['ends'], Outcome>> = {
  completed: 'rendered',
  PromptRejected: 'prompt',
  SourceImageRejected: 'source_image',
  GenerationFailed: 'failed',
  NothingRendered: 'nothing_rendered',
  GenerationTimedOut: 'timed_out',
  ServiceUnavailable: 'unavailable',
  InternalFailure: 'unknown_answer',
};

/** The rows that mean something else. The renderer detects a page instead of a picture. */
const rowsThatAre = (outcome: Outcome, ...rows: readonly string[]): Readonly<Record<string, Outcome>> =>
  Object.fromEntries(rows.map((row) => [row, outcome]));
const unusual: Readonly<Record<string, Outcome>> = {
  ...rowsThatAre('rendered', 'page'),
  ...rowsThatAre('unknown_outcome', 'break', 'server-error'),
  ...rowsThatAre('cancelled', 'client_cancelled', 'canceled', 'aborted'),
  ...rowsThatAre('credentials', 'unauthorized', 'payment-required', 'insufficient-credit', 'forbidden'),
  ...rowsThatAre('credentials', 'locked', 'key-revoked'),
};

const vendors = [
  ['openai', createOpenai, 'gpt-image-2'],
  ['google', createGoogle, 'gemini-3.1-flash-image'],
  ['bfl', createBfl, 'flux-2-pro'],
  ['fal', createFal, 'fal-ai/flux-2-pro'],
  ['replicate', createReplicate, 'black-forest-labs/flux-2-pro'],
  ['alibaba', createAlibaba, 'qwen-image-3.0'],
  ['ideogram', createIdeogram, 'ideogram-4-5'],
] as const;
const started = new Map(
  await Promise.all(vendors.map(async ([name]) => [name, await fakes[name].start(headed)] as const)),
);
afterAll(() => Promise.all([...started.values()].map((fake) => fake.stop())));

describe.each(vendors)('Each answer of %s', (name, create, providerModel) => {
  const { rows, key = '' } = fakes[name];
  const fake = started.get(name);
  if (!fake) throw new Error(`no fake of ${name}`);
  const { speak } = talkTo({ name, create, fake, key });
  const aJob = jobsLike({ providerModel, outputFormat: name === 'google' ? 'jpeg' : 'png' });
  const each: readonly (VendorRow & { readonly answers?: Outcome })[] = rows;

  it.each(each)('The answer "$row" has its outcome: $says', async ({ row, ends, answers, sources = 0 }) => {
    const expected = answers ?? unusual[row] ?? usual[ends];
    const { answer, forgotten } = await speak(
      aJob({ prompt: `Some secret [row:${row}]`, sourceCount: sources }),
    );
    expect(outcomeOf(answer)).toBe(expected);
    expect(forgotten).toEqual(expected === 'credentials' ? [name] : []);
    // The operator learns status and code, and never the prompt, the key, an address or a text of the vendor.
    const told = JSON.stringify({ ...answer, bytes: undefined });
    expect(told).not.toMatch(/secret|quote the prompt|comes back|flagged|https?:/);
    expect(told).not.toContain(key);
    if (answer.kind === 'refused')
      expect(answer.detail).toMatch(/^(HTTP \d{3}( [\w.]+)*|[A-Z_]+|an address of another host)$/);
    if (ends === 'completed') expect(headerOf(answer)?.width).toBeGreaterThan(500);
  });
});
