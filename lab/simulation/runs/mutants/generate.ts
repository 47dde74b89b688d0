/** The planted bugs of POST /images/generate: retries, uploads, rates and the start. */
import type { Mutant } from './plant.ts';

export const generate: readonly Mutant[] = [
  {
    name: 'completed-frees-the-key',
    file: 'service/generate/earlier-request.ts',
    find: "some(({ status }) => status !== 'failed')",
    replace: "some(({ status }) => status !== 'failed' && status !== 'completed')",
  },
  {
    name: 'retry-of-a-failure-makes-an-entry',
    file: 'service/generate/earlier-request.ts',
    find: 'retry: chargeInPlace(request, entry)',
    replace: "retry: { kind: 'new_entry', place: request.place, attempt: request.attempt, head: known }",
  },
  {
    name: 'entries-live-for-seconds',
    file: 'service/contract/limits.ts',
    find: 'afterTry: 15 * 60_000',
    replace: 'afterTry: 2_000',
  },
  {
    name: 'start-refused-unrefunded',
    file: 'service/generate/generate-image.ts',
    find: 'if (!(await isGivenBack(creation, services))) return',
    replace: "if (creation.id === '') return",
  },
  {
    name: 'key-expires-early',
    file: 'service/contract/limits.ts',
    find: 'idempotencySeconds = 24 * 60 * 60',
    replace: 'idempotencySeconds = 2',
  },
  {
    name: 'charge-behind-the-answer',
    file: 'service/values/time.ts',
    find: 'signal: ended.signal,\n    elapsed,\n    left: () => (ended.signal.aborted ? 0 : Math.max(0, millis - elapsed())),',
    replace: 'signal: new AbortController().signal,\n    elapsed,\n    left: () => millis,',
  },
  {
    name: 'rate-behind-the-downloads',
    file: 'service/generate/sources.ts',
    find: 'await caller.place.take();',
    replace: 'if (imageUrls.length > 99) await caller.place.take();',
  },
  {
    name: 'rate-behind-the-wait',
    file: 'service/generate/generate-image.ts',
    find: 'await caller.place.take();\n  return awaitOutcome',
    replace: 'return awaitOutcome',
  },
  {
    name: 'upload-without-owner',
    file: 'service/aws/dynamodb/table.ts',
    find: 'pk: `ACCOUNT#${account}`, sk: `UPLOAD#${id}`',
    replace: 'pk: `ACCOUNT#${account.slice(0, 0)}`, sk: `UPLOAD#${id}`',
  },
  {
    name: 'upload-never-expires',
    file: 'service/uploads/upload.ts',
    find: 'return nowMillis < upload.expiresAt;',
    replace: 'return nowMillis < upload.expiresAt + 86_400_000;',
  },
  {
    name: 'upload-unfilled',
    file: 'service/generate/sources.ts',
    find: 'if (!bytes) throw uploadNotUsable(index);\n  return bytes;',
    replace: "return bytes ?? Buffer.from('ffd8ffc0000b080040004001011100ffd9', 'hex');",
  },
  {
    name: 'uploads-without-quota',
    file: 'service/uploads/upload-store.ts',
    find: 'size(unused) < :limit',
    replace: 'size(unused) < :limit OR attribute_exists(pk)',
  },
  {
    name: 'used-upload-keeps-its-place',
    file: 'service/generate/charge.ts',
    find: 'uploads.length > 0 && { uploads }',
    replace: 'uploads.length < 0 && { uploads }',
  },
  {
    name: 'throttled-look-behind-the-charge',
    file: 'service/generate/await-outcome.ts',
    find: "log.info('wait_broken_off', {",
    replace: "if (last.id) throw new Error('wait_broken_off');\n    log.info('wait_broken_off', {",
  },
  {
    name: 'switch-is-not-read',
    file: 'service/generate/charge.ts',
    find: 'if (caller.state.closed) throw',
    replace: 'if (caller.state.closed && caller.state.openCreations < 0) throw',
  },
  {
    name: 'opener-without-the-held-limit',
    file: 'service/generate/open.ts',
    find: 'createHeldPlaces(store, door, heldLimit)',
    replace: 'createHeldPlaces(store, door, 1_000)',
  },
];
