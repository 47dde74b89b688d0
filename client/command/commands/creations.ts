import { Option } from 'commander';
import type { CreationFilter } from '../../src/resources/creations.ts';
import type { Creation } from '../../src/types/generated.ts';
import { saveImages, targetOf } from '../image-files.ts';
import { wholeNumber } from '../options.ts';
import { type SessionCommand, startProgress } from '../session.ts';
import { printFiles } from './generate.ts';

const longestPage = 100;
const longestPrompt = 40;

export function addCreationCommands(program: SessionCommand): void {
  const creations = program.task('creations', 'list, show, await and cancel creations');
  creations
    .task('list', 'the newest creations')
    .addOption(
      new Option('--status <status>', 'only these').choices(['queued', 'processing', 'completed', 'failed']),
    )
    .option('--model <id>', 'only of this model')
    .option('--user <user>', 'only for this user of yours')
    .option('--limit <number>', 'at most so many', wholeNumber(1, 100_000), 20)
    .run(async ({ io, options, output, client }, { limit, ...filter }: ListOptions) => {
      const found: Creation[] = [];
      const list = (await client()).creations.list(
        { ...filter, limit: Math.min(limit, longestPage) },
        { signal: io.signal },
      );
      for await (const creation of list) {
        found.push(creation);
        if (found.length === limit) break;
      }
      output.list(
        options.json === true ? found.map((one) => ({ ...one })) : found.map(creationRow),
        'No creations.',
      );
    });
  creations
    .command('show')
    .argument('<id>')
    .description('one creation')
    .run(async ({ io, output, client }, id: string) => {
      output.show({ ...(await (await client()).creations.get(id, { signal: io.signal })) });
    });
  creations
    .command('cancel')
    .argument('<id>')
    .description('cancel a creation while its provider can stop; its charge is refunded')
    .run(async ({ io, output, client }, id: string) => {
      output.show({ ...(await (await client()).creations.cancel(id, { signal: io.signal })) });
    });
  creations
    .command('wait')
    .argument('<id>')
    .description('wait until a creation has ended; exit code 1 when it has failed')
    .option('-o, --output <file>', 'save the image in this file or folder, and print its path')
    .option('--timeout <seconds>', 'give up waiting after so long', wholeNumber(1, 3600), 900)
    .option('--no-preview', 'do not show the image in the terminal')
    .run(async (session, id: string, { output: file, timeout, preview }: WaitOptions) => {
      const client = await session.client();
      const target = file === undefined ? undefined : await targetOf(session, file);
      const progress = startProgress(session);
      progress.tell(`waiting for ${id}`);
      const creation = await client.creations
        .wait(id, {
          timeoutMs: timeout * 1000,
          signal: session.io.signal,
          onPoll: ({ status }) => progress.tell(`${id}: ${status}`),
        })
        .finally(() => progress.end());
      if (!target) {
        session.output.show({ ...creation });
        return;
      }
      printFiles(
        session,
        { creation },
        await saveImages(session, client, creation, { target, shows: preview }),
      );
    });
}

export function addResultCommands(program: SessionCommand): void {
  const results = program.task('results', 'delete the images of creations');
  results
    .task('delete <id...>', 'delete the images of completed creations; their addresses are dead in a minute')
    .run(async ({ io, output, client }, ids: readonly string[]) => {
      const { creations } = await client();
      for (const id of ids) await creations.deleteResults(id, { signal: io.signal });
      output.list(
        ids.map((id) => ({ id, results: 'deleted' })),
        '',
      );
    });
}

interface ListOptions extends Pick<CreationFilter, 'status' | 'model' | 'user'> {
  readonly limit: number;
}

interface WaitOptions {
  readonly output?: string;
  readonly timeout: number;
  readonly preview: boolean;
}

function creationRow({ id, created_at, status, model, cost, prompt }: Creation): Record<string, unknown> {
  const text = prompt ?? '';
  return {
    created_at,
    id,
    status,
    model,
    usd: cost,
    prompt: text.length > longestPrompt ? `${text.slice(0, longestPrompt - 1)}…` : text,
  };
}
