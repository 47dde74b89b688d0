/** A program of a customer compiles with the declarations of the package, under strict rules. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildClient } from '../../client/build.ts';
import { root } from '../docs/pages.ts';

const program = `
import { generateImage } from 'ai';
import { Darkroom, GenerationFailed, type ApiPromise, type Creation, type Pages } from 'darkroom-client';
import { createDarkroom, type DarkroomImageOptions } from 'darkroom-client/ai-sdk';
import { verifyWebhook } from 'darkroom-client/webhooks';

const darkroom = new Darkroom({ fetch: globalThis.fetch });
const submitted: ApiPromise<Creation> = darkroom.images.generate({ model: 'm', prompt: 'p', resolution: '1K' });
const creation = await submitted;
export const url = creation.status === 'completed' ? creation.results[0]?.url : undefined;
export const why = creation.status === 'failed' ? creation.error : undefined;
const failed: Pages<Creation> = darkroom.creations.list({ status: 'failed' });
for await (const one of failed) one.id.slice();
(await failed.page()).next_cursor?.slice();
(await submitted.asResponse()).headers.get('x-darkroom-cost');
export const onFailure = (error: unknown): boolean => error instanceof GenerationFailed && error.creation.retryable;
export const bytes = (await darkroom.results.download(creation)).size;
for await (const { payload } of darkroom.events.follow()) if ('event' in payload) payload.status.slice();
export const verified = await verifyWebhook(new Request('https://receiver.test'), 'whsec_');
const options: DarkroomImageOptions = { resolution: '2K', user: 'ada' };
export const image = generateImage({
  model: createDarkroom(darkroom).image('m'),
  prompt: 'p',
  providerOptions: { darkroom: options },
});
// @ts-expect-error a field that the API does not have
await darkroom.images.generate({ model: 'm', promt: 'p' });
// @ts-expect-error a resolution that the API does not have
await darkroom.images.generate({ model: 'm', prompt: 'p', resolution: '8K' });
`;

let folder: string;
beforeAll(async () => {
  // A folder of the project, so that the program finds the types of Node.
  folder = mkdtempSync(join(root, 'node_modules/.cache/customer-'));
  const installed = join(folder, 'node_modules/darkroom-client');
  await buildClient(join(installed, 'dist'));
  await copyFile(join(root, 'client/package.json'), join(installed, 'package.json'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'program.ts'), program);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('A strict program compiles, and so does every declaration that it loads', () => {
  const compiled = ts.createProgram([join(folder, 'program.ts')], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    // Only the types of Node: a customer's server has no lib.dom.
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
  });
  const own = compiled.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder));
  const findings = own.flatMap((file) => [
    ...compiled.getSyntacticDiagnostics(file),
    ...compiled.getSemanticDiagnostics(file),
  ]);
  expect(own.length).toBeGreaterThan(10);
  expect(
    findings.map(({ messageText, file, start = 0 }) => {
      const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
      return `${file?.fileName.slice(folder.length) ?? ''}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    }),
  ).toEqual([]);
});
