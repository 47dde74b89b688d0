/** One machine whose functions run the code of a stored release or of today, as a test says. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { synthesizedTemplate } from '../../start/synthesized-template.ts';
import { enableAll, environmentOf } from '../../lab/vendors/fleet.ts';
import { startTestService, type Client, type TestService } from '../fixtures/service.ts';
import { nameOf } from '../stack/template.ts';
import { startReceiver, type Receiver } from '../whole/workflow/receiver.ts';
import { startSlowVendor, type SlowVendor } from './slow-vendor.ts';
import { openStoredRelease, type StoredRelease } from './stored-release.ts';

export type Release = 'stored' | 'today';

export interface TwoReleases {
  readonly service: TestService;
  readonly stored: StoredRelease;
  readonly vendor: SlowVendor;
  readonly receiver: Receiver;
  /** From now on each invocation that begins runs the code of this release. */
  use(release: Release): void;
  /** Lets the running invocations of a function crash. Gives their number. */
  crash(functionPart: string, match: string): Promise<number>;
  /** A client whose pictures the slow vendor renders. */
  vendorClient(): Promise<Client>;
  end(): Promise<void>;
}

export interface TwoReleasesOptions {
  readonly commit: string;
  /** Whose state machine runs. */
  readonly definition: Release;
  /** A folder with data. The default is a new folder. */
  readonly folder?: string;
}

export async function startTwoReleases({
  commit,
  definition,
  folder,
}: TwoReleasesOptions): Promise<TwoReleases> {
  const [stored, vendor, receiver] = await Promise.all([
    openStoredRelease(commit),
    startSlowVendor(),
    startReceiver(),
  ]);
  const templates = await mkdtemp(join(tmpdir(), 'darkroom-template-'));
  const service = await startTestService({
    environment: environmentOf([['bfl', vendor]]),
    ...(folder !== undefined && { folder }),
    ...(definition === 'stored' && { templatePath: await templateWith(stored.definition, templates) }),
  });
  const { machine, operator } = service;
  await enableAll(operator);
  return {
    service,
    stored,
    vendor,
    receiver,
    use: (release) => {
      for (const { id, codeFolder } of machine.template.functions) {
        const bundle = release === 'today' ? codeFolder : stored.bundles.get(nameOf(id));
        // A function that the stored release did not have runs the code of today.
        if (bundle !== undefined) machine.updateCode(id, bundle);
      }
    },
    crash: async (functionPart, match) => {
      const body = JSON.stringify({ function: functionPart, match });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${machine.localUrl}/crashes`, { method: 'POST', body, headers });
      return z.object({ crashed: z.number() }).parse(await answer.json()).crashed;
    },
    vendorClient: async () => {
      const client = await service.client();
      await operator.accounts.change(client.account.id, { providers: ['bfl'] });
      return client;
    },
    end: async () => {
      await service.end();
      await Promise.all([vendor.stop(), receiver.close(), stored.remove()]);
      await rm(templates, { recursive: true, force: true });
    },
  };
}

const templateSchema = z.looseObject({
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      Metadata: z.record(z.string(), z.unknown()).optional(),
      Properties: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

/** Writes the template of today with another text of the state machine, and gives its path. */
async function templateWith(definition: string, folder: string): Promise<string> {
  const path = await synthesizedTemplate();
  const template = templateSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  for (const [id, { Type, Metadata, Properties }] of Object.entries(template.Resources)) {
    const asset = Metadata?.['aws:asset:path'];
    if (Metadata && typeof asset === 'string') Metadata['aws:asset:path'] = resolve(dirname(path), asset);
    if (Type === 'AWS::StepFunctions::StateMachine' && nameOf(id) === 'CreationStateMachine')
      Object.assign(Properties ?? {}, { DefinitionString: definition });
  }
  const changed = join(folder, 'Darkroom.template.json');
  await writeFile(changed, JSON.stringify(template));
  return changed;
}
